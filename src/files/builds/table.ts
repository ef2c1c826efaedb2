import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cook_builds: CookBuildsTable;
    cook_build_parts: CookBuildPartsTable;
  }
}

/** A build that a studio uploads for its runners. */
export interface CookBuildsTable {
  id: Generated<number>;
  build_uuid: string;
  game_id: number;
  /** `open` until all bytes have arrived, `whole` until it is inspected, `void` once another build has replaced it. */
  state: 'open' | 'whole' | 'valid' | 'invalid' | 'void';
  /** 1 for the build that runners get once it is valid and has passed its scan. */
  is_live: number;
  filename: string;
  /** The length of the build; 0 until the first bytes declare it. */
  total: number;
  /** The storage’s id of an assembly from parts; null before it begins. */
  handle: string | null;
  /** Null until the bytes are stored. */
  storage_key: string | null;
  md5: string;
  sha256: string;
  bytes_uncompressed: number;
  /** The reason why it is invalid, as a field problem in JSON; empty otherwise. */
  problem: string;
  /** As for modfiles: the status of the scan, its result, and when it completed; 0 for never. */
  virus_status: Generated<number>;
  virus_positive: Generated<number>;
  date_scanned: Generated<number>;
  /** The findings of the scan, as JSON. */
  findings: Generated<string>;
  added_by: number;
  date_added: number;
  date_updated: number;
  /** When the upload URL expires. */
  date_expires: number;
}

/** A complete part. */
export interface CookBuildPartsTable {
  build_id: number;
  part_number: number;
  start: number;
  bytes: number;
  sha256: string;
  tag: string;
}
