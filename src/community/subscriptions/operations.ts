import { z } from 'zod';
import { PlatformStatusQuery } from '../../catalogue/live-files/object.ts';
import { listModsOfSubscriber, requireModDocument } from '../../catalogue/mods/mods.ts';
import { ModObject, modJson } from '../../catalogue/mods/object.ts';
import { user } from '../../platform/access/caller.ts';
import { ModPath, pageOf, pageOfJson } from '../../platform/http/objects.ts';
import { Created, createdOrThere, Json, noContent, ok, operation } from '../../platform/http/operation.ts';
import { subscribe, subscribedListing, unsubscribe } from './subscriptions.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

export const subscribeToMod = operation({
  id: 'subscribe-to-mod',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/subscribe',
  says: 'Subscribes to a mod. A user who has already subscribed gets 200 instead of 201, also with new dependencies.',
  access: user('write'),
  params: ModPath,
  emptyBody: true,
  body: z.object({
    include_dependencies: z.boolean().default(false).meta({
      description: 'Also subscribe to the mod’s public dependencies, recursively.',
    }),
  }),
  returns: createdOrThere(ModObject),
  errors: [
    ...NOT_FOUND,
    'MOD_NO_VIEW_PERMISSION',
    'SUBSCRIBE_FAILED_DMCA_COMPLAINT',
    'SUBSCRIBE_FAILED_MOD_HIDDEN',
    'SUBSCRIBE_FAILED_MUST_PURCHASE',
    'SUBSCRIBE_FAILED_NO_STOCK',
    'SUBSCRIBE_FAILED_MODFILE_MISSING',
  ],
  handle: async (app, { caller, params, body, language, platform, portal }) => {
    const { game_id: gameId, mod_id: modId } = params;
    const which = { gameId, modId, includeDependencies: body.include_dependencies };
    const isNew = await subscribe(app, caller, which);
    const mod = new Json(
      modJson(app, await requireModDocument(app.db, caller, gameId, modId, language, platform), {
        alone: true,
        portal,
      }),
    );
    return isNew ? new Created(mod, `${app.addresses.gameApi(gameId)}/games/${gameId}/mods/${modId}`) : mod;
  },
});

export const unsubscribeFromMod = operation({
  id: 'unsubscribe-from-mod',
  tag: 'Subscriptions',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/subscribe',
  says: 'Ends a subscription. Subscriptions to dependencies stay.',
  access: user('write'),
  params: ModPath,
  returns: noContent,
  errors: [...NOT_FOUND, 'UNSUBSCRIBE_NOT_SUBSCRIBED'],
  handle: (app, { caller, params }) => unsubscribe(app, caller, params.game_id, params.mod_id),
});

export const getUserSubscriptions = operation({
  id: 'get-user-subscriptions',
  tag: 'Me',
  method: 'GET',
  path: '/me/subscribed',
  says: 'Lists the mods to which the user has subscribed, including those that are hidden or not accepted. With `game_id` and a platform, those that are live on it.',
  access: user('read'),
  query: PlatformStatusQuery,
  list: subscribedListing,
  returns: ok(pageOf(ModObject)),
  errors: [],
  handle: async (app, { caller, query, list, language, platform, portal }) => {
    const on = { platform, platformStatus: query.platform_status };
    const { mods, total } = await listModsOfSubscriber(app, caller, list, language, on);
    return pageOfJson(
      mods.map((mod) => modJson(app, mod, { portal })),
      total,
      list,
    );
  },
});

export const subscriptionOperations = [subscribeToMod, unsubscribeFromMod, getUserSubscriptions];
