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

/** What cannot wait when an account ends. */
export async function endAtOnce(
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

/** Where what an account had belongs now; undefined where nobody has it any more. */
type Fate = (transaction: Transaction) => Promise<number | undefined>;

/**
 * What an account had is moved to the one that it became a part of, or goes. Noun by noun, each in transactions of its
 * own: what is done stays done when the rest is interrupted. Its fate is asked in each of them, as it may change
 * meanwhile: the account that takes it in can become a part of another, or be deleted.
 */
export async function settleAll(app: App, userId: number, fateOf: Fate, heartbeat: Heartbeat): Promise<void> {
  for (const { columns, erasing, moving, afterwards } of app.extensions.of(personalDataOf)) {
    if (erasing || moving)
      await stepByStep(app, heartbeat, async (transaction) => {
        const to = await fateOf(transaction);
        const step = to === undefined ? erasing?.(app, transaction, userId) : moving?.(app, transaction, userId, to);
        return (await step) ?? false;
      });
    await app.db.write(async (transaction) => {
      const to = await fateOf(transaction);
      if (to === undefined) await eraseRows(transaction.query, columns, userId);
      else await moveRows(transaction.query, columns, userId, to);
      await afterwards?.(transaction, to ?? userId);
    });
  }
}
