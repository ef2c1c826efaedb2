import type { Database } from '../database/database.ts';
import { ApiError, type ErrorName } from '../errors/catalogue.ts';
import {
  type Access,
  asLeader,
  type Caller,
  type KeyCaller,
  type Nobody,
  type ServiceCaller,
  type UserCaller,
} from './caller.ts';
import type { Power } from './powers.ts';
import { isOpenToEveryone } from './validity.ts';

const isApplication = (caller: UserCaller): boolean => caller.clientId !== undefined && caller.service === undefined;

/** The only game that an application may reach; undefined if the user granted it all games. */
export const reachOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && isApplication(caller) && !caller.allGames ? (caller.gameId ?? 0) : undefined;

/** The target of a request. */
export interface Target {
  /** The game in its path. */
  readonly gameId: number | undefined;
  /** The game in its host name. */
  readonly hostGameId: number | undefined;
  readonly isRead: boolean;
}

/**
 * Decides what a token may do, after its scopes were checked. Returns the caller that the operation sees: outside of
 * its reach a token reads like the API key of its game.
 */
export function actingAs(access: Access, caller: Caller, target: Target): Caller {
  if (caller.kind === 'service') return serviceActing(access, caller, target);
  if (caller.kind === 'key' && caller.server) return serverActing(access, caller, target);
  if (caller.kind !== 'user') return caller;
  const power = powerOf(access);
  const refusal = isApplication(caller)
    ? applicationRefusal(access, caller, target)
    : ownRefusal(power, caller, target);
  if (refusal) throw new ApiError(refusal);
  return isPublicRead(access) && isOutOfReach(caller, target) ? asKey(caller.gameId) : caller;
}

/** A caller without credentials, if the game is open to everyone; otherwise a signed link has to replace them. */
export async function admittedAnonymously(
  db: Pick<Database, 'first'>,
  access: Access,
  caller: Nobody & { readonly refusal: ApiError },
  gameId: number | undefined,
): Promise<Nobody> {
  const isOpen = gameId !== undefined && (await isOpenToEveryone(db, gameId));
  if (isOpen) return { ...caller, anonymous: true };
  if ('link' in access && access.link) return caller;
  throw caller.refusal;
}

/** Whether the request has no credentials at all, and asks for content. */
export const isWithoutCredentials = (access: Access, caller: Caller): caller is Nobody & { refusal: ApiError } =>
  caller.kind === 'nobody' && caller.refusal?.error === 'API_KEY_MISSING' && 'content' in access;

export const powerOf = (access: Access): Power => ('power' in access ? (access.power ?? 'content') : 'content');

const isPublicRead = ({ kind }: Access): boolean => kind === 'reader' || kind === 'anyone';

/** A path without a game may return content of any game. */
const isOutOfReach = (caller: UserCaller, { gameId }: Target): boolean => {
  const reach = reachOf(caller);
  return reach !== undefined && gameId !== reach;
};

function applicationRefusal(access: Access, caller: UserCaller, target: Target): ErrorName | undefined {
  const power = powerOf(access);
  if (power === 'personal') return caller.allGames ? undefined : 'TOKEN_OF_OTHER_GAME';
  if (power !== 'content') return 'TOKEN_OF_APPLICATION';
  const isOtherGame = target.gameId !== undefined && isOutOfReach(caller, target);
  return isOtherGame && !isPublicRead(access) ? 'TOKEN_OF_OTHER_GAME' : undefined;
}

function ownRefusal(power: Power, caller: UserCaller, { gameId }: Target): ErrorName | undefined {
  const isOfSite = caller.gameId === undefined && !caller.contentOnly;
  if (isOfSite || caller.service) return undefined;
  if (power === 'account' || power === 'staff') return 'TOKEN_OF_GAME';
  if (power === 'money') return caller.contentOnly ? 'TOKEN_OF_GAME' : undefined;
  if (power !== 'team') return undefined;
  if (caller.contentOnly || gameId === undefined) return 'TOKEN_OF_GAME';
  return gameId === caller.gameId ? undefined : 'OAUTH_UNEXPECTED_GAME_REFERENCE';
}

const asKey = (gameId: number | undefined): KeyCaller => ({ kind: 'key', keyId: 0, gameId, userId: undefined });

/**
 * A backend reads like its game's API key, or like the game's leader if it may edit. It writes only to its own game.
 */
function serviceActing(access: Access, caller: ServiceCaller, target: Target): Caller {
  const isOwn = target.gameId === caller.gameId;
  const readsAsLeader = isOwn && target.isRead && caller.scopes.includes('update');
  if (isPublicRead(access)) return readsAsLeader ? asLeader(caller) : asKey(caller.gameId);
  refuseOtherGame(caller.gameId, target);
  return access.kind === 'user' ? asLeader(caller) : caller;
}

/** A server may follow a signed link of another game: the link alone opens its file. */
function serverActing(access: Access, caller: KeyCaller, target: Target): Caller {
  if (!isOfOtherGame(caller.gameId!, target)) return caller;
  const refusal = new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  if ('link' in access && access.link) return { kind: 'nobody', refusal };
  throw refusal;
}

function isOfOtherGame(gameId: number, { gameId: inPath, hostGameId }: Target): boolean {
  const isOther = (named: number | undefined) => named !== undefined && named !== gameId;
  return isOther(inPath) || isOther(hostGameId);
}

function refuseOtherGame(gameId: number, target: Target): void {
  if (isOfOtherGame(gameId, target)) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
}

/** The games in which the user's team roles count for this token; undefined means all games. */
export function teamGamesOf(caller: UserCaller): readonly number[] | undefined {
  if (caller.service) return [caller.service.gameId];
  if (caller.clientId !== undefined || caller.contentOnly) return [];
  return caller.gameId === undefined ? undefined : [caller.gameId];
}

/** True if the user's role in the team of this game counts for the token. */
export const teamRoleCounts = (caller: UserCaller, gameId: number): boolean =>
  teamGamesOf(caller)?.includes(gameId) ?? true;
