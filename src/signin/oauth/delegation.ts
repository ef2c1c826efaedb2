import { requireUser, USER_ACTIVE, type UserRow } from '../../people/users/users.ts';
import type { ServiceCaller, UserCaller } from '../../platform/access/caller.ts';
import { findGoodToken, type GoodToken } from '../../platform/access/validity.ts';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';

const DELEGATION_SECONDS = 900;
const PURPOSE = 'oauth/delegation';
const SHAPE = /^(([\w-]{8})\.\d{1,15}\.\d{1,15}\.\d{1,15}\.\d{1,15}\.\d{1,15})\.([\w-]{43})$/;
/** The tolerated clock skew between two processes. */
const SKEW_SECONDS = 60;

/** Identifies the signing key, so that tokens of another site or of an earlier secret get their own error. */
const keyName = ({ secrets }: App): string => secrets.sign(PURPOSE, 'name of the key').slice(0, 8);

/**
 * Lets the backend of a game act for the caller for 15 minutes. The token is signed and self-contained, so nothing is
 * stored; it ends early with its access token.
 */
export function delegate(app: App, caller: UserCaller, hostGameId: number | undefined): string {
  const gameId = caller.gameId ?? hostGameId;
  // A first-party token belongs to no game, so there is no backend to delegate to.
  if (gameId === undefined) throw new ApiError('OAUTH_IS_FIRST_PARTY_CLIENT');
  if (hostGameId !== undefined && hostGameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  const now = app.clock.now();
  const text = [keyName(app), caller.tokenId, caller.userId, gameId, now, now + DELEGATION_SECONDS].join('.');
  return `${text}.${app.secrets.sign(PURPOSE, text)}`;
}

interface Delegation {
  readonly tokenId: number;
  readonly userId: number;
  readonly gameId: number;
  readonly dateIssued: number;
  readonly dateExpires: number;
}

/** The contents of a delegation token, or the error. */
function readDelegation(app: App, token: string): Delegation | ErrorName {
  const [, text, key, signature] = SHAPE.exec(token) ?? [];
  if (!text) return 'SERVICE_INVALID_TOKEN';
  if (key !== keyName(app)) return 'SERVICE_UNABLE_TO_GET_JWK_SIGNATURE';
  if (!app.secrets.verify(PURPOSE, text, signature!)) return 'SERVICE_INVALID_TOKEN';
  const numbers = text.split('.').slice(1).map(Number) as [number, number, number, number, number];
  const [tokenId, userId, gameId, dateIssued, dateExpires] = numbers;
  return { tokenId, userId, gameId, dateIssued, dateExpires };
}

/** A token from the future was issued by a process with a wrong clock. */
function timeRefusal(app: App, { dateIssued, dateExpires }: Delegation): ErrorName | undefined {
  const now = app.clock.now();
  if (dateIssued > now + SKEW_SECONDS) return 'SERVICE_INVALID_TOKEN_NOT_VALID_BEFORE';
  return dateExpires <= now ? 'SERVICE_INVALID_TOKEN_NOT_VALID_AFTER' : undefined;
}

/** The access token that the delegation came from, if it is still valid. */
async function findDelegator(app: App, { tokenId, userId }: Delegation): Promise<GoodToken | undefined> {
  const token = await findGoodToken(app.db, { id: tokenId }, app.clock.now());
  return token?.user_id === userId ? token : undefined;
}

/** The user for whom a service acts. */
export async function requireDelegator(app: App, caller: ServiceCaller, token: string | undefined): Promise<UserRow> {
  return requireActive(await requireUser(app, (await requireDelegation(app, caller, token)).user_id));
}

/** The same for money, which a device that was let in by a code cannot spend, nor delegate. */
export async function requireBuyer(app: App, caller: ServiceCaller, token: string | undefined): Promise<UserRow> {
  const { user_id, content_only } = await requireDelegation(app, caller, token);
  if (content_only === 1) throw new ApiError('TOKEN_OF_GAME');
  return requireActive(await requireUser(app, user_id));
}

async function requireDelegation(app: App, caller: ServiceCaller, token: string | undefined): Promise<GoodToken> {
  if (!token) throw new ApiError('USER_MUST_BE_LOGGED_IN');
  const delegation = readDelegation(app, token);
  if (typeof delegation === 'string') throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  if (delegation.gameId !== caller.gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  const delegator = timeRefusal(app, delegation) ? undefined : await findDelegator(app, delegation);
  if (!delegator) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return delegator;
}

/** The access token behind a delegation token, if the delegation is for this game. */
export async function requireDelegationOf(app: App, gameId: number, token: string | undefined): Promise<GoodToken> {
  const delegation = readDelegation(app, token ?? '');
  if (typeof delegation === 'string') throw new ApiError(delegation);
  if (delegation.gameId !== gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  const refusal = timeRefusal(app, delegation);
  if (refusal) throw new ApiError(refusal);
  const delegator = await findDelegator(app, delegation);
  if (!delegator) throw new ApiError('SERVICE_INVALID_TOKEN');
  return delegator;
}

function requireActive(user: UserRow): UserRow {
  if (user.status !== USER_ACTIVE) throw new ApiError('USER_TOKEN_ISSUE_MISMATCH');
  return user;
}
