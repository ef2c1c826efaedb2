declare module '../../platform/database/database.ts' {
  interface Tables {
    mutes: MutesTable;
  }
}

/** `user_id` has muted `muted_id`. */
export interface MutesTable {
  user_id: number;
  muted_id: number;
  date_added: number;
}
