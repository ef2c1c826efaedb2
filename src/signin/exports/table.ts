import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    data_exports: DataExportsTable;
  }
}

/** What is kept about a person, gathered for them to read. */
export interface DataExportsTable {
  id: Generated<number>;
  user_id: number;
  date_added: number;
  date_expires: number;
  /** None until it is gathered. */
  storage_key: string | null;
  bytes: number;
  sha256: string;
}
