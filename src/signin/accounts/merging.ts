import { isGuarded } from '../../files/releases/confirmation.ts';
import { isStaffMember } from '../../people/staff/staff.ts';
import {
  changeUser,
  findUserByEmailIn,
  findUserIn,
  lockUserRows,
  normalisedEmail,
  refuseSignIn,
  requireUser,
  requireUserIn,
  type UserRow,
} from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { findGoodToken } from '../../platform/access/validity.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { findCode, mergeAsker, sendCode } from '../mailed-codes/codes.ts';
import { shareAPortal } from '../portals/accounts.ts';
import { blank, endAccount } from './closing.ts';
import { SETTLE_JOB } from './settling.ts';
import * as store from './store.ts';

/**
 * Makes another account of the caller part of this one. Whoever holds tokens of both has signed in to both. Where the
 * other one confirms its releases by mail, a token of it is not enough, or its seats could be had without that.
 */
export async function mergeAccount(
  app: App,
  caller: UserCaller,
  otherToken: string,
  language: Language,
): Promise<void> {
  const asked = await app.db.write(async (transaction) => {
    const token = await findGoodToken(transaction, { digest: app.secrets.digest(otherToken) }, app.clock.now());
    const isOwn = token?.client_id === null && token.content_only === 0 && token.scopes.split(' ').includes('write');
    if (!isOwn) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
    const { user_id } = token;
    if (user_id !== caller.userId && (await isGuarded(transaction, user_id)))
      return (await requireUserIn(transaction, user_id)).email;
    await merge(app, transaction, user_id, caller.userId);
    return null;
  });
  if (asked !== null) await askToMerge(app, caller, asked, language);
}

/** Sends a code to the address of the other account, and says so; whether it has one is told to nobody. */
export async function askToMerge(app: App, caller: UserCaller, email: string, language: Language): Promise<never> {
  const { email: own } = await requireUser(app, caller.userId);
  if (own === normalisedEmail(email)) throw new ApiError('USER_SURRENDER_TO_CURRENT_ACCOUNT');
  await sendCode(app, mergeAsker(caller.userId), { email, language, mail: 'merge_mail' });
  throw new ApiError('USER_MERGE_CODE_SENT');
}

/** The same as with a token: whoever reads the mails of an address could sign in to its account. */
export async function mergeByCode(app: App, caller: UserCaller, email: string, code: string): Promise<void> {
  const outcome = await app.db.write(async (transaction) => {
    const found = await findCode(app, transaction, mergeAsker(caller.userId), { code });
    if (found instanceof ApiError) return found;
    const other = await findUserByEmailIn(transaction, found.email);
    if (!other || found.email !== normalisedEmail(email)) return new ApiError('EMAIL_EXCHANGE_INVALID_CODE');
    await merge(app, transaction, other.id, caller.userId);
    return undefined;
  });
  // A refusal is answered only now: thrown inside, it would undo the counted attempt.
  if (outcome) throw outcome;
}

/** The account that is given up ends at once, with its name; what it had follows in a job. */
async function merge(app: App, transaction: Transaction, fromId: number, toId: number): Promise<void> {
  if (fromId === toId) throw new ApiError('USER_SURRENDER_TO_CURRENT_ACCOUNT');
  // Neither ends, and neither hands in what would be left behind, before this is committed.
  await lockUserRows(transaction, { ends: [fromId, toId] });
  const [from, to] = [(await findUserIn(transaction, fromId))!, (await findUserIn(transaction, toId))!];
  refuseSignIn(to);
  // Nobody leaves a ban or a lock behind them.
  refuseSignIn(from);
  await refuseMerge(transaction, from, to);
  await endAccount(app, transaction, from, to);
  await changeUser(transaction, from.id, { ...blank(`merged-${from.id}`), merged_into: to.id });
  if (to.email === null && from.email !== null) await changeUser(transaction, to.id, { email: from.email });
  await app.jobs.enqueue(transaction, SETTLE_JOB, { userId: from.id });
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
