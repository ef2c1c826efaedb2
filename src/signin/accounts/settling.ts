import {
  changeUser,
  findUserIn,
  invalidateUser,
  lockUserRows,
  USER_DELETED,
  type UserRow,
} from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { settleAll } from './personal.ts';

export const SETTLE_JOB = 'accounts.settle';

export const nameOfDeleted = (userId: number): string => `deleted-${userId}`;

/** The chain of merges from an ended account to its current successor. */
async function chainFrom(transaction: Transaction, userId: number): Promise<UserRow[]> {
  const chain: UserRow[] = [];
  for (let id: number | null = userId; id !== null; id = chain.at(-1)?.merged_into ?? null) {
    const row: UserRow | undefined = await findUserIn(transaction, id);
    if (!row) break;
    chain.push(row);
  }
  return chain;
}

/**
 * Finds the successor and locks the whole chain, so that two processes cannot settle the same account and none of its
 * successors ends before this step commits.
 */
async function successorOf(transaction: Transaction, userId: number): Promise<number | undefined> {
  const idsOf = (chain: readonly UserRow[]) => chain.map(({ id }) => id);
  let chain = idsOf(await chainFrom(transaction, userId));
  for (;;) {
    const others = chain.filter((id) => id !== userId);
    await lockUserRows(transaction, { ends: [userId], under: others });
    const held = await chainFrom(transaction, userId);
    // The last account may have been merged further before the lock was taken.
    if (held.length === chain.length) {
      const last = held.at(-1)!;
      return last.status === USER_DELETED ? undefined : last.id;
    }
    chain = idsOf(held);
  }
}

/** Moves the rows of an ended account to its successor, or erases them. It is idempotent. */
export async function settleAccount(app: App, userId: number, heartbeat: () => Promise<void>): Promise<void> {
  await settleAll(app, userId, (transaction) => successorOf(transaction, userId), heartbeat);
  await app.db.write(async (transaction) => {
    const to = await successorOf(transaction, userId);
    const user = await findUserIn(transaction, userId);
    if (to !== undefined) invalidateUser(transaction, to);
    if (user?.merged_into == null) return invalidateUser(transaction, userId);
    const name = nameOfDeleted(userId);
    const renamed = to === undefined ? { username: name, name_id: name } : {};
    await changeUser(transaction, userId, { ...renamed, date_merged: app.clock.now() });
  });
}
