import { refuseGone } from '../../platform/access/authenticate.ts';
import { accessChanged, issueKey } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lock } from '../../platform/database/locks.ts';
import { fold } from '../../platform/database/words.ts';
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

/** The same within a transaction, which may have made the person itself. */
export async function requireUserIn(transaction: Transaction, id: number): Promise<store.UserRow> {
  const user = await store.rowIn(transaction, id);
  if (!user || user.status === USER_DELETED) throw new ApiError('USER_NOT_FOUND');
  return user;
}

/** Which accounts end, change hands or their name by a transaction, and under which it adds something. */
export interface HeldUsers {
  readonly ends?: readonly number[];
  readonly under?: readonly number[];
}

/** Holds accounts in whatever state. Those who end them, or add something under those that end, wait from here on. */
export const holdUsers = (transaction: Transaction, { ends = [], under = [] }: HeldUsers) =>
  lock(transaction, [
    ...under.map((id) => ({ kind: 'users', id, hold: 'under' }) as const),
    ...ends.map((id) => ({ kind: 'users', id, hold: 'ends' }) as const),
  ]);

/** In whatever state the account is. Others who change it wait from here on. */
export const holdUser = (transaction: Transaction, id: number) => store.rowForChange(transaction, id);

/** In whatever state the account is. */
export const findUser = (app: App, id: number) => store.byId(app.db, id);

/** The same within a transaction. */
export const findUserIn = (transaction: Transaction, id: number) => store.rowIn(transaction, id);

/** The same for a change: others who change this person wait from here on. */
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
    username_skeleton: skeletonOf(user.username),
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
 * Whether a name looks like that of somebody else without being the same. People may have equal names, as they can
 * be seen to be equal; who writes one in other letters passes for the other. Others are named after this transaction.
 */
export async function isLookAlike(transaction: Transaction, username: string, exceptId = 0): Promise<boolean> {
  await store.holdNames(transaction);
  const other = await store.firstAlike(transaction.query, confusableSkeletons(username), exceptId);
  return other !== undefined && !haveSameLetters(username, other.username);
}

/** Names that no letter is left of would be asked for again and again by `fillSkeletons`: they keep a space. */
const skeletonOf = (username: string): string => confusableSkeleton(username) || ' ';

const ALIKE_MAX = 20;

/** The name that a platform gives someone, or one that is like it and passes for nobody else. */
export async function usernameFor(app: App, transaction: Transaction, given: string): Promise<string> {
  if (!given || isReservedForPeople(given, app.settings.domain)) return playerName(app);
  for (let number = 1; number <= ALIKE_MAX; number += 1) {
    const name = number === 1 ? given : `${given} ${number}`;
    if (!(await isLookAlike(transaction, name))) return name;
  }
  return playerName(app);
}

/** Whoever may not come in: deleted, banned, or locked out until those who run the site are sure whose account it is. */
export function refuseSignIn({ status, date_locked }: Pick<store.UserRow, 'status' | 'date_locked'>): void {
  refuseGone(status);
  if (date_locked !== null) throw new ApiError('USER_LOCKED');
}

/** The person as they are at this moment, who may come in, and whose account does not end before that is committed. */
export async function admitUser(transaction: Transaction, id: number): Promise<store.UserRow> {
  await holdUsers(transaction, { under: [id] });
  const user = (await store.rowIn(transaction, id))!;
  refuseSignIn(user);
  return user;
}

/** Changes the row of a person, and lets everyone who keeps something of it know. */
export async function changeUser(
  transaction: Transaction,
  id: number,
  changes: Parameters<typeof store.change>[2],
): Promise<void> {
  const look = changes.username === undefined ? {} : { username_skeleton: skeletonOf(changes.username) };
  await store.change(transaction.query, id, { ...changes, ...look });
  announceUser(transaction, id);
}

/** What shows the person is stale, and so is what is known of them as a caller. */
export function announceUser(transaction: Transaction, id: number): void {
  transaction.changed(`users/${id}`);
  transaction.changed('users');
  accessChanged(transaction);
}

/** Bans, closes or reopens an account. It takes effect on every process at once. */
export const setUserStatus = (app: App, id: number, status: number): Promise<void> =>
  app.db.write((transaction) => putUserStatus(transaction, id, status));

/** The same within a transaction. */
export async function putUserStatus(transaction: Transaction, id: number, status: number): Promise<void> {
  await store.setStatus(transaction.query, id, status);
  announceUser(transaction, id);
}

/** What someone is called on the portals that they linked. */
export async function setPortalNames(
  transaction: Transaction,
  id: number,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  await store.setPortalNames(transaction.query, id, JSON.stringify(names));
  transaction.changed(`users/${id}`);
  transaction.changed('users');
}

/** Gives someone an address that they have shown to be theirs; false where somebody else has it. */
export async function claimEmail(transaction: Transaction, id: number, email: string): Promise<boolean> {
  const owner = await findUserByEmailIn(transaction, email);
  if (owner && owner.id !== id) return false;
  await store.setEmail(transaction.query, id, normalisedEmail(email));
  return true;
}

/** Remembers that a person is here. Nobody waits for it, and who does not get noted now is noted next time. */
export function noteOnline(app: App, id: number): void {
  app.db
    .write(async (transaction) => {
      await store.setOnline(transaction, id, app.clock.now());
      transaction.changed(`users/${id}`);
    })
    .catch((error) => app.log.warn('a person could not be noted as online', { user: id, error }));
}

const FOLDED_AT_ONCE = 500;

/** Names that no letter is left of when they are folded would be asked for again and again: they keep a space. */
export async function foldUsernames(app: App): Promise<void> {
  const some = () =>
    app.db.write(async ({ query }) => {
      const users = await store.unfolded(query, FOLDED_AT_ONCE);
      for (const { id, username } of users) await store.putFolded(query, id, fold(username) || ' ');
      return users.length;
    });
  while ((await some()) === FOLDED_AT_ONCE);
}

/** What names look like, for people from before that was kept. */
export async function fillSkeletons(app: App): Promise<void> {
  const some = () =>
    app.db.write(async ({ query }) => {
      const users = await store.withoutSkeleton(query, FOLDED_AT_ONCE);
      for (const { id, username } of users) await store.putSkeleton(query, id, username, skeletonOf(username));
      return users.length;
    });
  while ((await some()) === FOLDED_AT_ONCE);
}
