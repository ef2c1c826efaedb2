import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    data_exports: DataExportsTable;
  }
}

/** An export of the data about a user. */
export interface DataExportsTable {
  id: Generated<number>;
  user_id: number;
  date_added: number;
  date_expires: number;
  /** Null until the file is complete. */
  storage_key: string | null;
  bytes: number;
  sha256: string;
}
