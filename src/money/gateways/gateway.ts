import type { App } from '../../platform/app.ts';

export type PaymentState = 'pending' | 'paid' | 'failed';

export interface PaymentOrder {
  /** Ours, unguessable. The same reference always means the same payment, so that opening it can be repeated. */
  readonly reference: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
}

/**
 * A payment provider. Calls can be repeated: a rule records its intent, commits, calls, and records the outcome; after a
 * lost answer a job asks `stateOf` again.
 */
export interface PaymentGateway {
  readonly name: string;
  /** Returns the address at which the buyer pays. */
  open(app: App, order: PaymentOrder): Promise<string>;
  /**
   * Pays with a method that the buyer has left with the provider, such as a card. A method that the provider does not
   * know is declined. `stateOf` tells the outcome.
   */
  charge(app: App, order: PaymentOrder, methodId: string): Promise<void>;
  stateOf(app: App, reference: string): Promise<PaymentState>;
  refund(app: App, reference: string): Promise<void>;
}
