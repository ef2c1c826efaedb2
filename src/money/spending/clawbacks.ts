import { findUserIn, lockUserRow, USER_DELETED } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { audit } from '../../records/audit/audit.ts';
import { isLocked, setLock } from '../marketplace-locks/marketplace-locks.ts';
import { termsOf } from '../terms/terms.ts';
import * as store from './store.ts';

const DAY = 86_400;
/** How long clawbacks and purchases are remembered. */
const FORGOTTEN_AFTER = 2 * DAY;

export const JUDGE_CLAWBACKS = 'spending.judge-clawbacks';

interface ClawedBack {
  readonly transactionId: number;
  readonly userId: number;
  readonly gameId: number;
  readonly tokens: number;
}

/** Remembers tokens that were taken back. A job judges them, because accounts of users are locked before the books. */
export async function noteClawback(
  app: App,
  transaction: Transaction,
  { transactionId, userId, gameId, tokens }: ClawedBack,
): Promise<void> {
  const names = { user_id: userId, game_id: gameId };
  await store.addClawback(transaction, {
    transaction_id: transactionId,
    ...names,
    tokens,
    date_added: app.clock.now(),
  });
  await app.jobs.enqueue(transaction, JUDGE_CLAWBACKS, { userId, gameId }, { key: `${userId}/${gameId}` });
}

/** Locks users out whose purchases are taken back too often, and logs when that happens to many of a game. */
export async function judgeClawbacks(
  app: App,
  { userId, gameId }: { readonly userId: number; readonly gameId: number },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const { terms } = await termsOf(transaction, gameId);
    const since = app.clock.now() - DAY;
    await lockUserRow(transaction, userId);
    const ofUser = await store.clawbacksOfUser(transaction, userId, gameId, since);
    const isStorm = terms.clawbacks_to_lock > 0 && ofUser >= terms.clawbacks_to_lock;
    const user = await findUserIn(transaction, userId);
    if (isStorm && user && user.status !== USER_DELETED && !(await isLocked(transaction, userId)))
      await setLock(app, transaction, userId, { isLocked: true, reason: `${ofUser} clawbacks in a day`, by: 0 });
    const inGame = await store.clawbacksInGame(transaction, gameId, since);
    if (terms.clawback_storm > 0 && inGame === terms.clawback_storm) {
      const subject = { resource: 'games', id: gameId, gameId };
      await audit(app, transaction, { actor: 0, action: 'games.clawback-storm', subject, data: { clawbacks: inGame } });
    }
  });
}

export const forgetSpending = (app: App): Promise<void> => store.forget(app.db, app.clock.now() - FORGOTTEN_AFTER);
