import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    uploads: UploadsTable;
    upload_parts: UploadPartsTable;
  }
}

/** A session that uploads a file in parts. */
export interface UploadsTable {
  id: Generated<number>;
  upload_id: string;
  game_id: number;
  mod_id: number;
  user_id: number;
  filename: string;
  /** Null once the nonce no longer identifies the session. */
  nonce: string | null;
  status: number;
  /** The length of the file; 0 until the first part declares it. */
  total: number;
  /** The number of acknowledged bytes. */
  received: number;
  /** The storage’s id of the assembly; null until the storage has begun it. */
  handle: string | null;
  /** The request that completes the session, and when its claim expires. */
  claim: string | null;
  claim_until: number;
  md5: string | null;
  sha256: string | null;
  /** 1 once a modfile uses it. */
  used: Generated<number>;
  date_added: number;
  date_updated: number;
}

/** An acknowledged part has a hash; one that is being received has a claim. */
export interface UploadPartsTable {
  upload_id: string;
  part_number: number;
  start: number;
  bytes: number;
  sha256: string | null;
  tag: string;
  claim: string | null;
  claim_until: number;
  /** 1 if another request waits to send this part. */
  wanted: Generated<number>;
  date_added: number;
}
