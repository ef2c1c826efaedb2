import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    payments: PaymentsTable;
  }
}

export type PaymentStatus = 'pending' | 'paid' | 'failed' | 'refunded' | 'disputed';

/** The payment for a token pack, with its price and tokens as they were when it began. */
export interface PaymentsTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  pack_id: number;
  /** The conditions of that day; 0 for the defaults. */
  terms_id: number;
  tokens: number;
  /** What the buyer pays, taxes included, in the smallest unit. */
  price: number;
  tax: number;
  currency: string;
  provider: string;
  reference: string;
  url: string;
  /** The idempotency key of the request. */
  request_key: string;
  status: PaymentStatus;
  /** The transaction of the ledger; 0 until it is paid. */
  transaction_id: number;
  date_added: number;
  date_paid: number;
  /** When it failed, was refunded or disputed. */
  date_ended: number;
}
