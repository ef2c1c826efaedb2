import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** What a resource that uses token packs does when one changes. */
export interface PackExtension {
  readonly name: string;
  /** Its tokens or SKUs changed, or it is no longer sold. Runs inside the transaction that changes it. */
  readonly onChange: (app: App, transaction: Transaction, packId: number) => Promise<void>;
}

export const packExtensions = extensionPoint<PackExtension>('token packs');
