import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** What a resource that waits for payments does. Hooks run inside the transaction that records the outcome. */
export interface PaymentExtension {
  readonly name: string;
  readonly onPaid: (app: App, transaction: Transaction, paymentId: number) => Promise<void>;
  /** The buyer's bank took the money back. */
  readonly onDisputed: (app: App, transaction: Transaction, paymentId: number) => Promise<void>;
}

export const paymentExtensions = extensionPoint<PaymentExtension>('payments');
