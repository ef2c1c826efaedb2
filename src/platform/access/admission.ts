import { ApiError, type ErrorName } from '../errors/catalogue.ts';
import { type Access, asLeader, type Caller, type KeyCaller, type ServiceCaller, type UserCaller } from './caller.ts';
import type { Power } from './powers.ts';

const isApplication = (caller: UserCaller): boolean => caller.clientId !== undefined && caller.service === undefined;

/** The only game that an application reaches, unless the person let it reach all. */
export const reachOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && isApplication(caller) && !caller.allGames ? (caller.gameId ?? 0) : undefined;

/** Where a request is about to act. */
export interface Place {
  /** The game in its path. */
  readonly gameId: number | undefined;
  /** The game in its host name. */
  readonly hostGameId: number | undefined;
  readonly isRead: boolean;
}

/**
 * The one gate of what tokens may do, behind the one that looks at their scopes. Returns as whom the operation sees the
 * caller: a token reads outside of its reach as the key of its game does.
 */
export function actingAs(access: Access, caller: Caller, place: Place): Caller {
  if (caller.kind === 'service') return serviceActing(access, caller, place);
  if (caller.kind !== 'user') return caller;
  const power = powerOf(access);
  const refusal = isApplication(caller) ? applicationRefusal(access, caller, place) : ownRefusal(power, caller, place);
  if (refusal) throw new ApiError(refusal);
  return isPublicRead(access) && isOutOfReach(caller, place) ? asKey(caller.gameId) : caller;
}

export const powerOf = (access: Access): Power => ('power' in access ? (access.power ?? 'content') : 'content');

const isPublicRead = ({ kind }: Access): boolean => kind === 'reader' || kind === 'anyone';

/** What names no game may be about any. */
const isOutOfReach = (caller: UserCaller, { gameId }: Place): boolean => {
  const reach = reachOf(caller);
  return reach !== undefined && gameId !== reach;
};

function applicationRefusal(access: Access, caller: UserCaller, place: Place): ErrorName | undefined {
  const power = powerOf(access);
  if (power === 'personal') return caller.allGames ? undefined : 'TOKEN_OF_OTHER_GAME';
  if (power !== 'content') return 'TOKEN_OF_APPLICATION';
  const isElsewhere = place.gameId !== undefined && isOutOfReach(caller, place);
  return isElsewhere && !isPublicRead(access) ? 'TOKEN_OF_OTHER_GAME' : undefined;
}

function ownRefusal(power: Power, caller: UserCaller, { gameId }: Place): ErrorName | undefined {
  const isOfSite = caller.gameId === undefined && !caller.contentOnly;
  if (isOfSite || caller.service) return undefined;
  if (power === 'account' || power === 'staff') return 'TOKEN_OF_GAME';
  if (power !== 'team') return undefined;
  if (caller.contentOnly || gameId === undefined) return 'TOKEN_OF_GAME';
  return gameId === caller.gameId ? undefined : 'OAUTH_UNEXPECTED_GAME_REFERENCE';
}

const asKey = (gameId: number | undefined): KeyCaller => ({ kind: 'key', keyId: 0, gameId, userId: undefined });

/** A backend reads as its game's key does, or as its leader where it may edit; it acts in its own game alone. */
function serviceActing(access: Access, caller: ServiceCaller, place: Place): Caller {
  const isOwn = place.gameId === caller.gameId;
  const readsAsLeader = isOwn && place.isRead && caller.scopes.includes('update');
  if (isPublicRead(access)) return readsAsLeader ? asLeader(caller) : asKey(caller.gameId);
  const isOther = (named: number | undefined) => named !== undefined && named !== caller.gameId;
  if (isOther(place.gameId) || isOther(place.hostGameId)) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return access.kind === 'user' ? asLeader(caller) : caller;
}

/** The only games in whose teams the person's seats count for this token; undefined where they do in all. */
export function teamGamesOf(caller: UserCaller): readonly number[] | undefined {
  if (caller.service) return [caller.service.gameId];
  if (caller.clientId !== undefined || caller.contentOnly) return [];
  return caller.gameId === undefined ? undefined : [caller.gameId];
}

/** Whether what the person is in the team of this game counts for the token. */
export const teamRoleCounts = (caller: UserCaller, gameId: number): boolean =>
  teamGamesOf(caller)?.includes(gameId) ?? true;
