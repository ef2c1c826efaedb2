import type { ServiceCaller, UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { requireUser, USER_ACTIVE, type UserRow } from '../users/users.ts';
import * as store from './store.ts';

const DELEGATION_SECONDS = 900;
const PURPOSE = 'oauth/delegation';
const SHAPE = /^(\d{1,15}\.\d{1,15}\.\d{1,15}\.\d{1,15})\.([A-Za-z0-9_-]{43})$/;

/**
 * Lets the backend of a game act for the caller for a quarter of an hour. The token says all that is needed and is
 * signed, so that nothing of it is kept; it ends early with the access token that it came of.
 */
export function delegate(app: App, caller: UserCaller, hostGameId: number | undefined): string {
  const gameId = caller.gameId ?? hostGameId;
  // A token that the service gave for itself names no game whose backend could be meant.
  if (gameId === undefined) throw new ApiError('OAUTH_IS_FIRST_PARTY_CLIENT');
  if (hostGameId !== undefined && hostGameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  const text = [caller.tokenId, caller.userId, gameId, app.clock.now() + DELEGATION_SECONDS].join('.');
  return `${text}.${app.secrets.sign(PURPOSE, text)}`;
}

interface Delegation {
  readonly tokenId: number;
  readonly userId: number;
  readonly gameId: number;
  readonly dateExpires: number;
}

/** What a delegation token says, if it is one of ours. */
function readDelegation(app: App, token: string): Delegation | undefined {
  const [, text, signature] = SHAPE.exec(token) ?? [];
  if (!text || !app.secrets.verify(PURPOSE, text, signature!)) return undefined;
  const [tokenId, userId, gameId, dateExpires] = text.split('.').map(Number) as [number, number, number, number];
  return { tokenId, userId, gameId, dateExpires };
}

/** Whether the access token that it came of is still good. */
async function isAlive(app: App, { tokenId, userId }: Delegation): Promise<boolean> {
  const delegator = await store.delegatorOf(app.db, tokenId, userId);
  return delegator !== undefined && delegator.date_revoked === null && delegator.date_expires > app.clock.now();
}

/** The person for whom a service acts. */
export async function requireDelegator(app: App, caller: ServiceCaller, token: string | undefined): Promise<UserRow> {
  if (!token) throw new ApiError('USER_MUST_BE_LOGGED_IN');
  const delegation = readDelegation(app, token);
  if (!delegation) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  if (delegation.gameId !== caller.gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  if (delegation.dateExpires <= app.clock.now() || !(await isAlive(app, delegation)))
    throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return requireActive(await requireUser(app, delegation.userId));
}

/** Whom a delegation token signs in to the game for which it was given. */
export async function requireDelegationOf(app: App, gameId: number, token: string | undefined): Promise<number> {
  const delegation = token === undefined ? undefined : readDelegation(app, token);
  if (!delegation) throw new ApiError('SERVICE_INVALID_TOKEN');
  if (delegation.gameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  if (delegation.dateExpires <= app.clock.now()) throw new ApiError('SERVICE_INVALID_TOKEN_NOT_VALID_AFTER');
  if (!(await isAlive(app, delegation))) throw new ApiError('SERVICE_INVALID_TOKEN');
  return delegation.userId;
}

function requireActive(user: UserRow): UserRow {
  if (user.status !== USER_ACTIVE) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return user;
}
