import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cook_builds: CookBuildsTable;
    cook_build_parts: CookBuildPartsTable;
  }
}

/** What a studio uploads for its runners to cook with. */
export interface CookBuildsTable {
  id: Generated<number>;
  build_uuid: string;
  game_id: number;
  /** Open until all has come, whole until it was inspected, void once another took its place. */
  state: 'open' | 'whole' | 'valid' | 'invalid' | 'void';
  /** 1 for the one that runners get, once it is valid and has passed the scan. */
  is_live: number;
  filename: string;
  /** The length of the whole; 0 until the first bytes tell it. */
  total: number;
  /** What the storage calls it while it comes in parts; null before that. */
  handle: string | null;
  /** Null until its bytes have a place. */
  storage_key: string | null;
  md5: string;
  sha256: string;
  bytes_uncompressed: number;
  /** Why it is invalid, as a field problem in JSON; empty otherwise. */
  problem: string;
  /** As of files of mods: how far the scan came, what it found, and when it ended; 0 for never. */
  virus_status: Generated<number>;
  virus_positive: Generated<number>;
  date_scanned: Generated<number>;
  /** What the scan found, as JSON. */
  findings: Generated<string>;
  added_by: number;
  date_added: number;
  date_updated: number;
  /** Of the address to which it is uploaded. */
  date_expires: number;
}

/** A part that was received whole. */
export interface CookBuildPartsTable {
  build_id: number;
  part_number: number;
  start: number;
  bytes: number;
  sha256: string;
  tag: string;
}
