import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { openBalancesOf, post } from './ledger.ts';

/** Moves the balances of an account that was merged into another one. A second run finds nothing to move. */
export async function moveBalances(app: App, transaction: Transaction, from: number, to: number): Promise<void> {
  for (const { account, amount } of await openBalancesOf(transaction, from))
    await post(app, transaction, {
      kind: 'merge',
      gameId: account.gameId,
      cause: { operation: 'accounts.merge', actor: to },
      entries: [
        { account, amount: -amount },
        { account: { ...account, userId: to }, amount },
      ],
    });
}
