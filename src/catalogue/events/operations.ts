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
  says: 'Lists what happened to the mods of a game in the last 90 days, newest first. Remember the largest `id` and ask for `id-gt` it: none is missed.',
  access: reader(),
  params: GamePath,
  query: z.object({
    latest: z.boolean().default(true).meta({ description: 'Of each mod and type of event, the latest alone.' }),
    subscribed: z
      .boolean()
      .default(false)
      .meta({ description: 'Of the mods to which the person has subscribed alone. It takes their token.' }),
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
  says: 'Lists all that happened to a mod in the last 90 days, newest first.',
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
  says: 'Lists what the person did in the last 90 days, newest first: teams joined and left, mods subscribed to and no longer.',
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
