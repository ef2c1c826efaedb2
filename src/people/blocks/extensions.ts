import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** What ends between two users when one blocks the other. */
export interface BlockExtension {
  /** Runs in the transaction of the block, with the pair locked. */
  readonly onBlock: (transaction: Transaction, userId: number, blockedId: number) => Promise<void>;
}

export const blockExtensions = extensionPoint<BlockExtension>('blocks');
