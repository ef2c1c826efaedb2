import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    payouts: PayoutsTable;
    payout_accounts: PayoutAccountsTable;
    simulated_payouts: SimulatedPayoutsTable;
  }
}

/** Money on its way to a seller. */
export interface PayoutsTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  currency: string;
  /** What the seller gets, in the smallest unit of the currency. */
  amount: number;
  fee: number;
  /** The amount of the request, fee included; 0 for everything. */
  requested: number;
  provider: string;
  /** The seller's account at the provider; empty where the provider has none. */
  account: string;
  /** Our name for the payout at the provider. */
  reference: string;
  /** How often the provider answered that it cannot send it now. */
  attempt: number;
  /** What the provider answered when it was sent. */
  receipt: string;
  request_key: string;
  /** The month of a scheduled payout, such as 2026-11; empty for a requested one. */
  period: string;
  /** `returned`: it was paid, and came back. */
  status: 'requested' | 'sent' | 'paid' | 'failed' | 'returned';
  reason: string;
  /** The transactions of the ledger that set it aside and that paid it. */
  transaction_id: number;
  paid_id: number;
  date_added: number;
  date_sent: number;
  date_paid: number;
  date_ended: number;
  /** When the provider is asked next; 0 for never. */
  date_next: number;
}

/** Where a provider pays a seller. */
export interface PayoutAccountsTable {
  user_id: number;
  provider: string;
  account: string;
  date_added: number;
}

/** What the simulated provider knows. It stands for the provider's own database. */
export interface SimulatedPayoutsTable {
  reference: string;
  amount: number;
  currency: string;
  outcome: 'paid' | 'failed' | 'returned';
  /** When the outcome is known. */
  date_due: number;
  date_added: number;
}
