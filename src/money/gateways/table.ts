declare module '../../platform/database/database.ts' {
  interface Tables {
    simulated_payments: SimulatedPaymentsTable;
  }
}

/** What the simulated provider knows. It stands for the provider's own database. */
export interface SimulatedPaymentsTable {
  reference: string;
  amount: number;
  currency: string;
  description: string;
  /** What the buyer chose. */
  outcome: 'open' | 'paid' | 'failed' | 'refunded';
  /** When a delayed payment arrives. */
  date_due: number;
  date_added: number;
}
