declare module '../../platform/database/database.ts' {
  interface Tables {
    subscriptions: SubscriptionsTable;
  }
}

/** `date_added` is when the person asked for it last: what ends older subscriptions leaves those alone. */
export interface SubscriptionsTable {
  user_id: number;
  mod_id: number;
  date_added: number;
}
