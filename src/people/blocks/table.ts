declare module '../../platform/database/database.ts' {
  interface Tables {
    blocks: BlocksTable;
  }
}

/** `user_id` has blocked `blocked_id`. */
export interface BlocksTable {
  user_id: number;
  blocked_id: number;
  date_added: number;
}
