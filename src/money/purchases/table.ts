import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    purchases: PurchasesTable;
    mod_orders: ModOrdersTable;
    store_orders: StoreOrdersTable;
    idempotent_requests: IdempotentRequestsTable;
  }
}

/** A mod that a user bought. While the status is `paid` the user owns the mod. */
export interface PurchasesTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  mod_id: number;
  /** The conditions of that day; 0 for the defaults. */
  terms_id: number;
  /** In tokens. */
  price: number;
  fee: number;
  gateway_uuid: string;
  status: 'paid' | 'refunded';
  transaction_id: number;
  date_added: number;
  date_refunded: number;
}

/** A mod that a buyer pays for with money. The payment buys tokens, and these buy the mod. */
export interface ModOrdersTable {
  payment_id: number;
  user_id: number;
  game_id: number;
  mod_id: number;
  /** In tokens, as the buyer saw it. */
  price: number;
  subscribe: number;
  /** `failed`: the mod could not be handed over when the payment arrived. `returned`: the purchase was refunded. */
  status: 'open' | 'bought' | 'failed' | 'returned';
  /** 0 until it is bought. */
  purchase_id: number;
  date_added: number;
}

/** A mod that a purchase at a store pays for. The purchase buys tokens, and these buy the mod. */
export interface StoreOrdersTable {
  fulfilment_id: number;
  user_id: number;
  game_id: number;
  mod_id: number;
  /** In tokens, as it was when the purchase was consumed. */
  price: number;
  subscribe: number;
  /** `failed`: the mod could not be handed over; the tokens are in the wallet. `returned`: the purchase was refunded. */
  status: 'open' | 'bought' | 'failed' | 'returned';
  /** 0 until it is bought. */
  purchase_id: number;
  date_added: number;
}

/** The response to a request with an idempotency key, for the time in which the key may be repeated. */
export interface IdempotentRequestsTable {
  user_id: number;
  game_id: number;
  operation: string;
  request_key: string;
  /** A digest of what was sent: the same key with another request is an error. */
  digest: string;
  response: string;
  /** What the response is about: when it is refunded, the key is free again. */
  mod_id: number;
  date_added: number;
}
