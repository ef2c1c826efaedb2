import { type Caller, muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Column, Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireGame } from '../games/games.ts';
import { levelsOf, requireMod } from '../mods/access.ts';
import { MODERATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

export type { ModEventRow, UserEventRow } from './store.ts';

const integer: Column = { kind: 'integer' };

const columns = {
  id: integer,
  mod_id: integer,
  user_id: integer,
  date_added: integer,
  event_type: { kind: 'text', sql: 'lower(e.event_type)' },
} as const;

/** The columns that lists of events can be filtered and sorted by. */
export const modEventListing: Listing = {
  from: 'e',
  columns,
  sorts: { id: 'e.id', mod_id: 'e.mod_id', user_id: 'e.user_id', date_added: 'e.date_added' },
};
export const userEventListing: Listing = {
  ...modEventListing,
  columns: { ...columns, game_id: integer },
  sorts: { ...modEventListing.sorts, game_id: 'e.game_id' },
};

const NEWEST_FIRST = { sql: 'e.id', descending: true };
const ordered = (request: ListRequest): ListRequest => ({ ...request, sort: request.sort ?? NEWEST_FIRST });

/** The game's team sees all events of its mods, a mod's team all events of that mod, everyone else the public ones. */
export async function listEventsOfGame(
  app: App,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  { latest, subscribed }: { latest: boolean; subscribed: boolean },
) {
  await requireGame(app.db, caller, gameId);
  const everything = (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;
  const memberId = caller.kind === 'user' && caller.inTeams ? caller.userId : undefined;
  const scope = {
    gameId,
    modId: undefined,
    everything,
    memberId,
    latest,
    subscriberId: subscribed ? requireUserId(caller) : undefined,
    muterId: everything ? undefined : muterOf(caller),
  };
  return store.listModEvents(app.db.query, scope, modEventListing, ordered(request));
}

/** An API key has no subscriptions. */
function requireUserId(caller: Caller): number {
  if (caller.kind !== 'user') throw new ApiError('USER_MUST_BE_LOGGED_IN');
  return caller.userId;
}

/** All events of one mod, including older ones of the same type. */
export async function listEventsOfMod(app: App, caller: Caller, gameId: number, modId: number, request: ListRequest) {
  const mod = await requireMod(app.db, caller, gameId, modId);
  const levels = await levelsOf(app.db, caller, mod);
  const everything = levels.mod >= MODERATOR || levels.game >= MODERATOR;
  const scope = { gameId, modId, everything, memberId: undefined, latest: false };
  return store.listModEvents(app.db.query, scope, modEventListing, ordered(request));
}

export const listEventsOfUser = (app: App, { userId }: UserCaller, request: ListRequest) =>
  store.listUserEvents(app.db.query, userId, userEventListing, ordered(request));
