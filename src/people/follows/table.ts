declare module '../../platform/database/database.ts' {
  interface Tables {
    follows: FollowsTable;
  }
}

/** `user_id` follows `followed_id`. */
export interface FollowsTable {
  user_id: number;
  followed_id: number;
  date_added: number;
}
