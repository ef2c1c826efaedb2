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

/** The person for whom a service acts. */
export async function requireDelegator(app: App, caller: ServiceCaller, token: string | undefined): Promise<UserRow> {
  if (!token) throw new ApiError('USER_MUST_BE_LOGGED_IN');
  const [, text, signature] = SHAPE.exec(token) ?? [];
  if (!text || !app.secrets.verify(PURPOSE, text, signature!)) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  const [tokenId, userId, gameId, dateExpires] = text.split('.').map(Number) as [number, number, number, number];
  if (gameId !== caller.gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  const delegator = await store.delegatorOf(app.db, tokenId, userId);
  const now = app.clock.now();
  if (!delegator || delegator.date_revoked !== null || delegator.date_expires <= now || dateExpires <= now)
    throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return requireActive(await requireUser(app, userId));
}

function requireActive(user: UserRow): UserRow {
  if (user.status !== USER_ACTIVE) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return user;
}
