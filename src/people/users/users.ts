import { refuseGone } from '../../platform/access/authenticate.ts';
import { accessChanged, issueKey } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lock } from '../../platform/database/locks.ts';

import { ApiError } from '../../platform/errors/catalogue.ts';
import { confusableSkeleton, confusableSkeletons, haveSameLetters } from '../../platform/filters/confusables.ts';
import { isReservedForPeople } from '../../platform/filters/reserved-names.ts';
import { freeSlug, slug } from '../../platform/text/slug.ts';
import * as store from './store.ts';

export type { UserRow } from './store.ts';
export { refuseGone };

export const USER_ACTIVE = 1;
export const USER_DELETED = 3;
export const USER_BANNED = 4;

export async function requireUser(app: App, id: number): Promise<store.UserRow> {
  const user = await store.byId(app.db, id);
  if (!user || user.status === USER_DELETED) throw new ApiError('USER_NOT_FOUND');
  return user;
}

/** As `requireUser`, within a transaction, which may have added the user. */
export async function requireUserIn(transaction: Transaction, id: number): Promise<store.UserRow> {
  const user = await store.rowIn(transaction, id);
  if (!user || user.status === USER_DELETED) throw new ApiError('USER_NOT_FOUND');
  return user;
}

/** Accounts that a transaction ends or renames (`ends`), and accounts that it adds rows to (`under`). */
export interface LockedUsers {
  readonly ends?: readonly number[];
  readonly under?: readonly number[];
}

/** Locks accounts in any state against transactions that end them, or add rows to those that end. */
export const lockUserRows = (transaction: Transaction, { ends = [], under = [] }: LockedUsers) =>
  lock(transaction, [
    ...under.map((id) => ({ kind: 'users', id, mode: 'under' }) as const),
    ...ends.map((id) => ({ kind: 'users', id, mode: 'ends' }) as const),
  ]);

/** Finds an account in any state and locks it against other changes. */
export const lockUserRow = (transaction: Transaction, id: number) => store.rowForChange(transaction, id);

/** Finds an account in any state. */
export const findUser = (app: App, id: number) => store.byId(app.db, id);

/** As `findUser`, within a transaction. */
export const findUserIn = (transaction: Transaction, id: number) => store.rowIn(transaction, id);

/** As `findUserIn`, with a lock against other changes of the account. */
export async function requireUserForChange(transaction: Transaction, id: number): Promise<store.UserRow> {
  const user = await store.rowForChange(transaction, id);
  if (!user || user.status === USER_DELETED) throw new ApiError('USER_NOT_FOUND');
  return user;
}

/** A guest signed in through a portal and has no confirmed email address: only the portal vouches for them. */
export const isGuest = async (
  transaction: Transaction,
  { id, email }: Pick<store.UserRow, 'id' | 'email'>,
): Promise<boolean> => email === null && (await store.hasPortalAccount(transaction, id));

export const findUserByEmailIn = ({ query }: Transaction, email: string) =>
  store.byEmail(query, normalisedEmail(email));

export const normalisedEmail = (email: string): string => email.trim().toLowerCase();

export interface NewUser {
  readonly email?: string | undefined;
  readonly username: string;
  /** Site staff may have a name that is reserved for them. */
  readonly isStaff?: boolean;
  readonly language?: string;
}

export async function addUser(
  app: App,
  transaction: Transaction,
  user: NewUser,
): Promise<store.UserRow & { api_key: string }> {
  const now = app.clock.now();
  const row = await store.add(transaction.query, {
    status: USER_ACTIVE,
    name_id: await nameIdFor(app, transaction, user),
    username: user.username,
    username_skeleton: confusableSkeleton(user.username),
    email: user.email ? normalisedEmail(user.email) : null,
    admin: 0,
    date_joined: now,
    date_online: now,
    avatar: null,
    timezone: '',
    language: user.language ?? 'en',
    country: '',
    privacy_options: 0,
    monetization_status: 0,
  });
  return { ...row, api_key: await issueKey(app, transaction, { userId: row.id }) };
}

async function nameIdFor(app: App, { query }: Transaction, { username, isStaff }: NewUser): Promise<string> {
  // Even with a number appended, the name would pass for staff.
  if (!isStaff && isReservedForPeople(slug(username), app.settings.domain)) return playerName(app);
  return freeSlug(username, 'user', await store.nameIdsLike(query, freeSlug(username, 'user', [])));
}

/** For users without a name, or with one that they cannot have. */
export const playerName = (app: App): string => `player-${app.random.hex(8)}`;

/**
 * Whether a name looks like another user's without being equal to it. Equal names are allowed, because readers can see
 * that they are equal; the check locks names until the transaction ends.
 */
export async function isLookAlike(transaction: Transaction, username: string, exceptId = 0): Promise<boolean> {
  await store.lockNames(transaction);
  const other = await store.firstAlike(transaction.query, confusableSkeletons(username), exceptId);
  return other !== undefined && !haveSameLetters(username, other.username);
}

const ALIKE_MAX = 20;

/** The name from a platform, with a number where it looks like another user's. */
export async function usernameFor(app: App, transaction: Transaction, given: string): Promise<string> {
  if (!given || isReservedForPeople(given, app.settings.domain)) return playerName(app);
  for (let number = 1; number <= ALIKE_MAX; number += 1) {
    const name = number === 1 ? given : `${given} ${number}`;
    if (!(await isLookAlike(transaction, name))) return name;
  }
  return playerName(app);
}

/** Refuses deleted, banned and locked accounts. Staff lock an account until its owner is verified. */
export function refuseSignIn({ status, date_locked }: Pick<store.UserRow, 'status' | 'date_locked'>): void {
  refuseGone(status);
  if (date_locked !== null) throw new ApiError('USER_LOCKED');
}

/** The current state of a user who may sign in, locked so that the account does not end before the commit. */
export async function admitUser(transaction: Transaction, id: number): Promise<store.UserRow> {
  await lockUserRows(transaction, { under: [id] });
  const user = (await store.rowIn(transaction, id))!;
  refuseSignIn(user);
  return user;
}

/** Changes the row of a user and invalidates caches that contain it. */
export async function changeUser(
  transaction: Transaction,
  id: number,
  changes: Parameters<typeof store.change>[2],
): Promise<void> {
  const look = changes.username === undefined ? {} : { username_skeleton: confusableSkeleton(changes.username) };
  await store.change(transaction.query, id, { ...changes, ...look });
  invalidateUser(transaction, id);
}

/** Invalidates responses that show the user, and the cached caller. */
export function invalidateUser(transaction: Transaction, id: number): void {
  transaction.changed(`users/${id}`);
  transaction.changed('users');
  accessChanged(transaction);
}

/** Bans, closes or reopens an account. It takes effect on every process at once. */
export const setUserStatus = (app: App, id: number, status: number): Promise<void> =>
  app.db.write((transaction) => putUserStatus(transaction, id, status));

/** As `setUserStatus`, within a transaction. */
export async function putUserStatus(transaction: Transaction, id: number, status: number): Promise<void> {
  await store.setStatus(transaction.query, id, status);
  invalidateUser(transaction, id);
}

/** Stores the user's names on linked portals. */
export async function setPortalNames(
  transaction: Transaction,
  id: number,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  await store.setPortalNames(transaction.query, id, JSON.stringify(names));
  transaction.changed(`users/${id}`);
  transaction.changed('users');
}

/** Assigns a confirmed address; false where another account has it. */
export async function claimEmail(transaction: Transaction, id: number, email: string): Promise<boolean> {
  const owner = await findUserByEmailIn(transaction, email);
  if (owner && owner.id !== id) return false;
  await store.setEmail(transaction.query, id, normalisedEmail(email));
  return true;
}

/** Updates the time of the last visit in the background. A failed update is made up for by the next request. */
export function updateLastVisit(app: App, id: number): void {
  app.db
    .write(async (transaction) => {
      await store.setOnline(transaction, id, app.clock.now());
      transaction.changed(`users/${id}`);
    })
    .catch((error) => app.log.warn('the time of a user’s last visit could not be stored', { user: id, error }));
}
