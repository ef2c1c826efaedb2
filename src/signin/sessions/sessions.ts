import { signOut } from '../../people/users/signing-out.ts';
import { USER_ACTIVE } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { redeemPageCode, type Visitor } from '../mailed-codes/signing-in.ts';
import * as store from './store.ts';

export type { OpenSession, SessionRow } from './store.ts';

export const SESSION_SECONDS = 30 * 86_400;
const USER_AGENT_MAX = 200;

export interface Browser {
  /** The browser that requested the code. */
  readonly visit: string;
  readonly userAgent: string;
}

/** Signs a user in to the pages with the mailed code; returns the secret for the cookie. */
export const openSession = (
  app: App,
  guess: Parameters<typeof redeemPageCode>[2],
  visitor: Visitor,
  userAgent: string,
): Promise<string> =>
  redeemPageCode(app, visitor, guess, (transaction, user) => addSession(app, transaction, user.id, userAgent));

/** Creates a session within the transaction that verified the sign-in; returns its secret. */
export async function addSession(app: App, { query }: Transaction, userId: number, userAgent: string): Promise<string> {
  const secret = app.random.token();
  const now = app.clock.now();
  await store.add(query, {
    digest: app.secrets.digest(secret),
    user_id: userId,
    user_agent: userAgent.slice(0, USER_AGENT_MAX),
    date_added: now,
    date_expires: now + SESSION_SECONDS,
    date_revoked: null,
  });
  return secret;
}

/** The stored digest of a browser’s cookie. */
export const visitDigest = (app: App, visit: string): string => app.secrets.digest(`visit ${visit}`);

/** Not cached: pages are rarely opened, and a session that was ended must stop at once. */
export async function findSession(app: App, secret: string | undefined): Promise<store.OpenSession | undefined> {
  if (!secret) return undefined;
  const session = await store.openWith(app.db, app.secrets.digest(secret), app.clock.now());
  return session?.status === USER_ACTIVE ? session : undefined;
}

export async function closeSession(app: App, secret: string): Promise<void> {
  await app.db.write(({ query }) => store.end(query, { digest: app.secrets.digest(secret) }, app.clock.now()));
}

export const sessionsOf = (app: App, { userId }: UserCaller): Promise<store.SessionRow[]> =>
  store.openOf(app.db.query, userId, app.clock.now());

/** For administrators of the site, who look for a thief in an account. */
export async function listSessionsOf(app: App, caller: UserCaller, userId: number): Promise<store.SessionRow[]> {
  if (staffLevel(caller) < STAFF_LEVELS.administrator) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.openOf(app.db.query, userId, app.clock.now());
}

export async function endSession(app: App, caller: UserCaller, id: number): Promise<void> {
  const ended = await app.db.write(({ query }) => store.end(query, { userId: caller.userId, id }, app.clock.now()));
  if (!ended) throw new ApiError('RESOURCE_NOT_FOUND');
}

export const endSessionsOf = async (app: App, { query }: Transaction, userId: number): Promise<void> =>
  void (await store.end(query, { userId }, app.clock.now()));

/** Ends all tokens, grants and sessions of the user. It takes effect on every process at once. */
export async function signOutEverywhere(app: App, caller: UserCaller): Promise<void> {
  await app.db.write((transaction) => signOut(app, transaction, caller.userId));
}

const REMEMBER_SECONDS = 86_400;

export async function forgetOutdatedSessions(app: App): Promise<void> {
  await store.forget(app.db, app.clock.now() - REMEMBER_SECONDS);
}
