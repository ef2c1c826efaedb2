declare module '../../platform/database/database.ts' {
  interface Tables {
    mutes: MutesTable;
  }
}

/** `user_id` does not want to see what `muted_id` makes. */
export interface MutesTable {
  user_id: number;
  muted_id: number;
  date_added: number;
}
