import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** What a resource that uses purchases at stores does. Hooks run inside the transaction that records the outcome. */
export interface StoreExtension {
  readonly name: string;
  /** The purchase was consumed, and its tokens are in the wallet. */
  readonly onFulfilled: (app: App, transaction: Transaction, fulfilmentId: number) => Promise<void>;
  /** The store refunded the purchase, and its tokens were taken back. */
  readonly onReversed: (app: App, transaction: Transaction, fulfilmentId: number) => Promise<void>;
}

export const storeExtensions = extensionPoint<StoreExtension>('stores');
