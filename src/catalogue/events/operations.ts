import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { GamePath, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { eventsScope } from '../../records/events/events.ts';
import { listEventsOfGame, listEventsOfMod, listEventsOfUser, modEventListing, userEventListing } from './events.ts';
import { ModEventObject, toModEvent, toUserEvent, UserEventObject } from './object.ts';

export const getModsEvents = operation({
  id: 'get-mods-events',
  tag: 'Events',
  method: 'GET',
  path: '/games/{game_id}/mods/events',
  says: 'Lists what happened to the mods of a game in the last 90 days, newest first. A client that remembers the largest `id` and asks for `id-gt` it misses none.',
  access: reader(),
  params: GamePath,
  query: z.object({
    latest: z.boolean().default(true).meta({ description: 'Only the latest event per mod and type.' }),
    subscribed: z
      .boolean()
      .default(false)
      .meta({ description: 'Only events of mods that the user subscribes to. Needs the user’s token.' }),
  }),
  list: modEventListing,
  returns: ok(pageOf(ModEventObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'USER_MUST_BE_LOGGED_IN'],
  handle: async (app, { caller, params, query, list, cache }) => {
    const { events, total } = await listEventsOfGame(app, caller, params.game_id, list, query);
    if (!query.subscribed) cache(eventsScope(params.game_id), `games/${params.game_id}`);
    return page(events.map(toModEvent), total, list);
  },
});

export const getModEvents = operation({
  id: 'get-mod-events',
  tag: 'Events',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/events',
  says: 'Lists everything that happened to a mod in the last 90 days, newest first.',
  access: reader(),
  params: ModPath,
  list: modEventListing,
  returns: ok(pageOf(ModEventObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
  handle: async (app, { caller, params, list }) => {
    const { events, total } = await listEventsOfMod(app, caller, params.game_id, params.mod_id, list);
    return page(events.map(toModEvent), total, list);
  },
});

export const getUserEvents = operation({
  id: 'get-user-events',
  tag: 'Me',
  method: 'GET',
  path: '/me/events',
  says: 'Lists what the user did in the last 90 days, newest first: teams joined and left, subscriptions added and removed.',
  access: user('read'),
  list: userEventListing,
  returns: ok(pageOf(UserEventObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const { events, total } = await listEventsOfUser(app, caller, list);
    return page(events.map(toUserEvent), total, list);
  },
});

export const eventOperations = [getModsEvents, getModEvents, getUserEvents];
