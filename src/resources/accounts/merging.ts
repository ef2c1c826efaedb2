import type { UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { shareAPortal } from '../portals/accounts.ts';
import { isStaffMember } from '../staff/pieces.ts';
import { announceUser, changeUser, requireUserIn, type UserRow } from '../users/users.ts';
import { blank, endAccount, requireOwnToken } from './closing.ts';
import { moveAll } from './personal.ts';
import * as store from './store.ts';

export const MOVE_JOB = 'accounts.move';

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
    await endAccount(app, transaction, from, to);
    await changeUser(transaction, from.id, { ...blank(`merged-${from.id}`), merged_into: to.id });
    if (to.email === null && from.email !== null) await changeUser(transaction, to.id, { email: from.email });
    await app.jobs.enqueue(transaction, MOVE_JOB, { from: from.id, to: to.id });
  });
}

async function refuseMerge(transaction: Transaction, from: UserRow, to: UserRow): Promise<void> {
  if ((await isStaffMember(transaction, from.id)) || (await isStaffMember(transaction, to.id)))
    throw new ApiError('USER_CANNOT_MERGE_ADMIN_ACCOUNT');
  if (from.monetization_status !== 0 || to.monetization_status !== 0)
    throw new ApiError('USER_CANNOT_MERGE_MONETIZATION_ACCOUNTS');
  const { games, mods } = await store.leads(transaction.query, from.id);
  if (games) throw new ApiError('USER_CANNOT_MERGE_ACCOUNT_WITH_GAMES');
  if (mods) throw new ApiError('USER_CANNOT_MERGE_ACCOUNT_WITH_MODS');
  if (await shareAPortal(transaction, from.id, to.id)) throw new ApiError('USER_SURRENDER_TO_CONNECTIONS_EXIST');
}

/** What the other account had follows. It may run again after it has run. */
export async function moveAccount(app: App, from: number, to: number, heartbeat: () => Promise<void>): Promise<void> {
  await moveAll(app, from, to, heartbeat);
  await app.db.write(async (transaction) => {
    await changeUser(transaction, from, { date_merged: app.clock.now() });
    announceUser(transaction, to);
  });
}
