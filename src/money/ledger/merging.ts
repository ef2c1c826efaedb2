import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { EndingAccount } from '../../platform/personal-data.ts';
import { openBalancesOf, post } from './ledger.ts';

/** Nobody deletes an account in which there is something of value, or which owes something. A merge takes it along. */
export async function refuseFunds(
  _: App,
  transaction: Transaction,
  { id }: EndingAccount,
  to?: EndingAccount,
): Promise<void> {
  if (!to && (await openBalancesOf(transaction, id)).length > 0)
    throw new ApiError('MONETIZATION_USER_HAS_FUNDS', { fields: [{ field: 'wallet', rule: 'not_empty' }] });
}

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
