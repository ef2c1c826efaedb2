import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    store_settings: StoreSettingsTable;
    store_fulfilments: StoreFulfilmentsTable;
    store_notifications: StoreNotificationsTable;
    simulated_purchases: SimulatedPurchasesTable;
  }
}

/** What a game has agreed with a store. */
export interface StoreSettingsTable {
  game_id: number;
  portal: string;
  /** The game's name at the store, by which notifications find it; empty where a store sends none. */
  store_app: string;
  /** JSON of the fields that administrators may see. */
  fields: string;
  /** Encrypted JSON of the other fields. */
  secrets: string;
  date_updated: number;
}

/** One purchase at a store, from before it is consumed there. */
export interface StoreFulfilmentsTable {
  id: Generated<number>;
  portal: string;
  reference: string;
  game_id: number;
  user_id: number;
  /** The pack that the SKU stood for when the purchase was first synced. */
  pack_id: number;
  sku: string;
  quantity: number;
  /** What the buyer gets for the whole quantity, decided with the pack. */
  tokens: number;
  /** The posting that credited the tokens. */
  transaction_id: number;
  /** `pending`, `fulfilled`, `failed` or `reversed`. */
  state: string;
  /** The UUID that all attempts share. */
  attempt_key: string;
  /** Counts attempts. Only the latest one may record its outcome. */
  tries: number;
  /** JSON of what the adapter needs to find the purchase. */
  handle: string;
  /** Encrypted JSON of the buyer's session; empty once settled. */
  session: string;
  date_added: number;
  date_tried: number;
  /** When a job may ask the store again. */
  date_due: number;
  date_settled: number;
}

/** Notifications that were handled. */
export interface StoreNotificationsTable {
  portal: string;
  message: string;
  date_added: number;
}

/** What the simulated store knows. It stands for the store's own database. */
export interface SimulatedPurchasesTable {
  id: Generated<number>;
  game_id: number;
  portal: string;
  user_id: number;
  sku: string;
  quantity: number;
  state: 'owned' | 'pending' | 'consumed' | 'revoked';
  /** What goes wrong when it is consumed, once; empty for nothing. */
  fault: string;
  /** The key of the attempt that consumed it. */
  consumption_key: string;
  date_added: number;
}
