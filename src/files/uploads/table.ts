import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    uploads: UploadsTable;
    upload_parts: UploadPartsTable;
  }
}

/** A session in which a file comes in parts. */
export interface UploadsTable {
  id: Generated<number>;
  upload_id: string;
  game_id: number;
  mod_id: number;
  user_id: number;
  filename: string;
  /** Null once the session no longer answers to it. */
  nonce: string | null;
  status: number;
  /** The length of the whole; 0 until the first part tells it. */
  total: number;
  /** Of the total, what was acknowledged. */
  received: number;
  /** What the storage calls it; null until the storage knows of it. */
  handle: string | null;
  /** Who completes it, and for how long without a sign of life. */
  claim: string | null;
  claim_until: number;
  md5: string | null;
  sha256: string | null;
  /** 1 once a file was made of it. */
  used: Generated<number>;
  date_added: number;
  date_updated: number;
}

/** A part that was acknowledged has a hash; one that is on its way has a claim instead. */
export interface UploadPartsTable {
  upload_id: string;
  part_number: number;
  start: number;
  bytes: number;
  sha256: string | null;
  tag: string;
  claim: string | null;
  claim_until: number;
  /** 1 when another request waits to send this part. */
  wanted: Generated<number>;
  date_added: number;
}
