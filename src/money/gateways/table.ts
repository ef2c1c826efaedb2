declare module '../../platform/database/database.ts' {
  interface Tables {
    simulated_payments: SimulatedPaymentsTable;
    stripe_payments: StripePaymentsTable;
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

/** Where a payment is found at Stripe. */
export interface StripePaymentsTable {
  reference: string;
  /** The Checkout Session (`cs_…`), the PaymentIntent (`pi_…`), or `declined`. */
  stripe_object: string;
  date_added: number;
}
