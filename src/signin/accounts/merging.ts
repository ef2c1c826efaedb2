import { isGuarded } from '../../files/releases/confirmation.ts';
import { lookOf } from '../../people/site/site.ts';
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
import { type Language, languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { audit } from '../../records/audit/audit.ts';
import { findCode, mergeRequester, sendCode } from '../mailed-codes/codes.ts';
import { shareAPortal } from '../portals/accounts.ts';
import { blankedUser, endAccount } from './closing.ts';
import { SETTLE_JOB } from './settling.ts';
import * as store from './store.ts';

/**
 * Merges another account of the caller into this one. A token of each account proves that the caller signed in to both,
 * but an account that confirms releases by mail also needs the mailed code.
 */
export async function mergeAccount(
  app: App,
  caller: UserCaller,
  otherToken: string,
  language: Language,
): Promise<void> {
  const emailOfCode = await app.db.write(async (transaction) => {
    const token = await findGoodToken(transaction, { digest: app.secrets.digest(otherToken) }, app.clock.now());
    const isOwn = token?.client_id === null && token.content_only === 0 && token.scopes.split(' ').includes('write');
    if (!isOwn) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
    const { user_id } = token;
    if (user_id !== caller.userId && (await isGuarded(transaction, user_id)))
      return (await requireUserIn(transaction, user_id)).email;
    await merge(app, transaction, user_id, caller.userId);
    return null;
  });
  if (emailOfCode !== null) await sendMergeCode(app, caller, emailOfCode, language);
}

/**
 * Mails a code to the other account and answers with an error that asks for it. The answer is the same if the address
 * has no account.
 */
export async function sendMergeCode(app: App, caller: UserCaller, email: string, language: Language): Promise<never> {
  const { email: own } = await requireUser(app, caller.userId);
  if (own === normalisedEmail(email)) throw new ApiError('USER_SURRENDER_TO_CURRENT_ACCOUNT');
  await sendCode(app, mergeRequester(caller.userId), { email, language, mail: 'merge_mail' });
  throw new ApiError('USER_MERGE_CODE_SENT');
}

/** A mailed code is as good as a token, because the owner of the mailbox could sign in with it. */
export async function mergeByCode(app: App, caller: UserCaller, email: string, code: string): Promise<void> {
  const outcome = await app.db.write(async (transaction) => {
    const found = await findCode(app, transaction, mergeRequester(caller.userId), { code });
    if (found instanceof ApiError) return found;
    const other = await findUserByEmailIn(transaction, found.email);
    if (!other || found.email !== normalisedEmail(email)) return new ApiError('EMAIL_EXCHANGE_INVALID_CODE');
    await merge(app, transaction, other.id, caller.userId);
    return undefined;
  });
  // Throwing inside the transaction would roll back the counted attempt.
  if (outcome) throw outcome;
}

export interface StaffMerge {
  readonly fromId: number;
  readonly toId: number;
  /** How the staff know that both accounts are of one person. */
  readonly reason: string;
}

/**
 * Administrators of the site merge two accounts of one person, who cannot sign in to one of them any more and so can
 * confirm nothing with it. Both mailboxes are told instead, and an account that its mailbox protects is not merged.
 */
export const mergeByStaff = (app: App, caller: UserCaller, { fromId, toId, reason }: StaffMerge): Promise<void> =>
  app.db.write(async (transaction) => {
    if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
    const from = await requireUserIn(transaction, fromId);
    const to = await requireUserIn(transaction, toId);
    if (await isGuarded(transaction, fromId)) throw new ApiError('USER_CANNOT_DELETE_ACCOUNT');
    await merge(app, transaction, fromId, toId);
    const names = { from: from.username, to: to.username };
    for (const { email, language } of [from, to])
      if (email !== null) await app.jobs.enqueue(transaction, MERGED_MAIL_JOB, { to: email, language, names });
    const subject = { resource: 'users', id: fromId, gameId: 0 };
    await audit(app, transaction, {
      actor: caller.userId,
      action: 'users.merge',
      subject,
      reason,
      data: { into: toId },
    });
  });

export const MERGED_MAIL_JOB = 'accounts.merged-mail';

interface MergedMail {
  readonly to: string;
  readonly language: string;
  readonly names: { readonly from: string; readonly to: string };
}

/** A job sends this mail, so that an outage of the mail server does not lose it. */
export async function mailMerged(app: App, { to, language, names }: MergedMail): Promise<void> {
  const shown = languageOf(language) ?? 'en';
  const { name, isNamed } = await lookOf(app.db);
  const site = isNamed ? name : new URL(app.addresses.site).host;
  await app.mail.send({
    to,
    subject: localise('staff_merge_mail_subject', shown),
    text: localise('staff_merge_mail_text', shown, { ...names, site }),
  });
}

/** How much a merge moves, or a deletion erases, of what people notice most. */
export async function contentsOf(app: App, caller: UserCaller, userId: number): Promise<store.Contents> {
  if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  await requireUser(app, userId);
  return store.contentsOf(app.db, userId);
}

/** The merged account ends at once and loses its name; a job moves its contents. */
async function merge(app: App, transaction: Transaction, fromId: number, toId: number): Promise<void> {
  if (fromId === toId) throw new ApiError('USER_SURRENDER_TO_CURRENT_ACCOUNT');
  // Until the commit, neither account can end or gain rows that the merge would miss.
  await lockUserRows(transaction, { ends: [fromId, toId] });
  const [from, to] = [(await findUserIn(transaction, fromId))!, (await findUserIn(transaction, toId))!];
  refuseSignIn(to);
  // A banned or locked user must not escape by merging.
  refuseSignIn(from);
  await refuseMerge(transaction, from, to);
  await endAccount(app, transaction, from, to);
  await changeUser(transaction, from.id, { ...blankedUser(`merged-${from.id}`), merged_into: to.id });
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
