import type { App } from '../../platform/app.ts';

/** The seller as a provider has to know them. */
export interface PayoutSeller {
  readonly userId: number;
  readonly country: string;
  /** What the seller registered, such as an IBAN. */
  readonly details: string;
}

export interface PayoutOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly account: string;
  /** Changes after an answer that another attempt must not get again. */
  readonly attempt: number;
  readonly receipt: string;
  readonly date_added: number;
}

export type PayoutState = 'sent' | 'paid' | 'failed';

/** A provider refuses a payout for good: asking again would not help. */
export class PayoutRefused extends Error {}

/** A provider answers that it cannot pay now: a later attempt may succeed. */
export class PayoutDelayed extends Error {}

/** A provider that pays sellers. A call may be repeated with the same reference; the provider pays once. */
export interface PayoutGateway {
  readonly name: string;
  /** Opens an account for the seller, or returns the one that was opened before. */
  openAccount(app: App, seller: PayoutSeller): Promise<string>;
  /** Where the seller enters what the provider asks for; empty if nothing is missing. */
  onboardingUrl(app: App, account: string): Promise<string>;
  isReady(app: App, account: string): Promise<boolean>;
  /** Sends the money and returns a receipt. Throws `PayoutDelayed` or `PayoutRefused` if the provider says no. */
  send(app: App, order: PayoutOrder): Promise<string>;
  stateOf(app: App, order: PayoutOrder): Promise<PayoutState>;
  /** Brings money back that did not arrive. Repeated, it does nothing. */
  recall(app: App, order: PayoutOrder): Promise<void>;
}
