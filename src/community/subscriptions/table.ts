declare module '../../platform/database/database.ts' {
  interface Tables {
    subscriptions: SubscriptionsTable;
  }
}

/** `date_added` is the time of the last request: the removal of older subscriptions leaves these alone. */
export interface SubscriptionsTable {
  user_id: number;
  mod_id: number;
  date_added: number;
}
