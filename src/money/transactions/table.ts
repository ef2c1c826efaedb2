import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    s2s_transactions: S2sTransactionsTable;
  }
}

export type TransactionStatus = 'pending' | 'paid' | 'refunded' | 'cancelled' | 'failed';

/** A token pack that a store sold, as the game's backend reports it. */
export interface S2sTransactionsTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  /** The registered client of the backend that began it. */
  client_id: number;
  portal: string;
  sku: string;
  pack_id: number;
  /** The mod that the tokens buy at once; 0 for none. */
  mod_id: number;
  /** Its price at the intent, in tokens. */
  mod_price: number;
  /** The conditions of that day; 0 for the defaults. */
  terms_id: number;
  tokens: number;
  /** In the smallest unit of the currency, taxes included. */
  price: number;
  tax: number;
  currency: string;
  /** The store that collects the money. */
  provider: string;
  /** The id of the sale at the backend. */
  gateway_uuid: string;
  clawback_uuid: string;
  reason: string;
  status: TransactionStatus;
  /** The transaction of the ledger; 0 until it is committed. */
  transaction_id: number;
  /** The purchase of the mod; 0 for none, and until it is committed. */
  purchase_id: number;
  date_added: number;
  date_paid: number;
  /** When the hold is over; 0 until it is committed. */
  date_clears: number;
  /** When it was taken back, abandoned or given up. */
  date_ended: number;
}
