import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { eraseRows, moveRows } from '../../platform/database/personal.ts';
import { type EndingAccount, type PersonalData, personalDataOf } from '../../platform/personal-data.ts';
import * as store from './store.ts';

export const personalAddresses: PersonalData = {
  columns: [
    {
      table: 'email_changes',
      column: 'user_id',
      exported: ['email', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
  ending: async (_, { query }, { id }) => void (await store.removeEmailChange(query, id)),
};

/** Runs what has to happen in the transaction that ends the account. */
export async function runEndingSteps(
  app: App,
  transaction: Transaction,
  account: EndingAccount,
  to?: EndingAccount,
): Promise<void> {
  for (const { ending } of app.extensions.of(personalDataOf)) await ending?.(app, transaction, account, to);
}

type Heartbeat = () => Promise<void>;

async function stepByStep(app: App, heartbeat: Heartbeat, step: (transaction: Transaction) => Promise<boolean>) {
  while (await app.db.write(step)) await heartbeat();
  await heartbeat();
}

/** The account that owns the rows now, or undefined if they are to be erased. */
type Successor = (transaction: Transaction) => Promise<number | undefined>;

/**
 * Moves the rows of an ended account to its successor, or erases them, resource by resource and in a transaction per
 * step, so that an interrupted run can continue. Each step looks the successor up again, because it can be merged or
 * deleted in the meantime.
 */
export async function settleAll(app: App, userId: number, successorOf: Successor, heartbeat: Heartbeat): Promise<void> {
  for (const { columns, erasing, moving, afterwards } of app.extensions.of(personalDataOf)) {
    if (erasing || moving)
      await stepByStep(app, heartbeat, async (transaction) => {
        const to = await successorOf(transaction);
        const step = to === undefined ? erasing?.(app, transaction, userId) : moving?.(app, transaction, userId, to);
        return (await step) ?? false;
      });
    await app.db.write(async (transaction) => {
      const to = await successorOf(transaction);
      if (to === undefined) await eraseRows(transaction.query, columns, userId);
      else await moveRows(transaction.query, columns, userId, to);
      await afterwards?.(transaction, to ?? userId);
    });
  }
}
