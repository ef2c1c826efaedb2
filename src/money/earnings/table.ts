import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    earnings: EarningsTable;
  }
}

/** What one seller earned with one sale. */
export interface EarningsTable {
  id: Generated<number>;
  /** The transaction of the ledger that sold the mod. */
  sale_id: number;
  user_id: number;
  game_id: number;
  mod_id: number;
  /** The conditions of the sale; 0 for the defaults. */
  terms_id: number;
  tokens: number;
  currency: string;
  /** What the seller got when it cleared, in the smallest unit of the currency and without `withheld`. */
  amount: number;
  withheld: number;
  /** The fraction of the smallest unit that is carried to the seller's next earnings. */
  remainder_micros: number;
  status: 'pending' | 'cleared' | 'taken_back';
  /** The transaction of the ledger that cleared it; 0 until then. */
  cleared_id: number;
  date_added: number;
  date_due: number;
  date_cleared: number;
  date_ended: number;
}
