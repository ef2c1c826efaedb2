import type { UserCaller } from '../../access/caller.ts';
import { revokeKeys } from '../../access/credentials.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { moveMutes } from '../mutes/personal.ts';
import { moveSeats } from '../teams/personal.ts';
import { changeUser, requireUserIn, USER_DELETED, type UserRow } from '../users/users.ts';
import { requireOwnToken, signOut } from './closing.ts';
import * as store from './store.ts';

export const MOVE_JOB = 'accounts.move';

/** What a noun keeps of a person moves to the other account. Each step may run again after it has run. */
type Step = (transaction: Transaction, from: number, to: number) => Promise<void>;
const WHEN_MERGED: readonly Step[] = [moveMutes, moveSeats];

/**
 * Makes another account of the caller part of this one. Whoever holds tokens of both has signed in to both. The other
 * ends at once, with its name; what it had follows in a job.
 */
export async function mergeAccount(app: App, caller: UserCaller, otherToken: string): Promise<void> {
  requireOwnToken(caller);
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    const found = await store.personWithToken(query, app.secrets.digest(otherToken), app.clock.now());
    if (!found?.scopes.split(' ').includes('write')) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
    if (found.id === caller.userId) throw new ApiError('USER_SURRENDER_TO_CURRENT_ACCOUNT');
    const [from, to] = [await requireUserIn(transaction, found.id), await requireUserIn(transaction, caller.userId)];
    await refuseMerge(transaction, from, to);
    await signOut(app, transaction, from.id);
    await revokeKeys(app, transaction, { userId: from.id });
    await changeUser(transaction, from.id, {
      status: USER_DELETED,
      email: null,
      name_id: `merged-${from.id}`,
      merged_into: to.id,
    });
    if (to.email === null && from.email !== null) await changeUser(transaction, to.id, { email: from.email });
    await app.jobs.enqueue(transaction, MOVE_JOB, { from: from.id, to: to.id });
  });
}

async function refuseMerge(transaction: Transaction, from: UserRow, to: UserRow): Promise<void> {
  if (from.admin === 1 || to.admin === 1) throw new ApiError('USER_CANNOT_MERGE_ADMIN_ACCOUNT');
  if (from.monetization_status !== 0) throw new ApiError('USER_CANNOT_MERGE_MONETIZATION_ACCOUNTS');
  const { games, mods } = await store.leads(transaction.query, from.id);
  if (games) throw new ApiError('USER_CANNOT_MERGE_ACCOUNT_WITH_GAMES');
  if (mods) throw new ApiError('USER_CANNOT_MERGE_ACCOUNT_WITH_MODS');
}

/** Noun by noun, each in a transaction of its own: what is done stays done when the rest is interrupted. */
export async function moveAccount(app: App, from: number, to: number): Promise<void> {
  for (const step of WHEN_MERGED) await app.db.write((transaction) => step(transaction, from, to));
  await app.db.write((transaction) => changeUser(transaction, from, { date_merged: app.clock.now() }));
}
