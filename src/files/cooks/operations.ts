import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { cancelCook, listCooksOfGame, listCooksOfMod, requireCookOfMod, startCooks } from './cooks.ts';
import { cookListing } from './listing.ts';
import { ModfileCookObject, toModfileCook } from './object.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const CookPath = ModPath.extend({ cook_uuid: z.string().trim().toLowerCase().pipe(z.uuid()) });

const whichOf = ({ game_id, mod_id }: { game_id: number; mod_id: number }) => ({ gameId: game_id, modId: mod_id });

export const getCooks = operation({
  id: 'get-cooks',
  tag: 'Cooks',
  method: 'GET',
  path: '/games/{game_id}/cooks',
  says: 'Lists all cooks of a game, including those of hidden mods. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: GamePath,
  list: cookListing,
  returns: ok(pageOf(ModfileCookObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, list }) => {
    const { cooks, total } = await listCooksOfGame(app, caller, params.game_id, list);
    return page(cooks.map(toModfileCook), total, list);
  },
});

export const browseModfileCooks = operation({
  id: 'browse-modfile-cooks',
  tag: 'Cooks',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/cooks',
  says: 'Lists the cooks of a mod’s sources. Allowed for the teams of the mod and its game.',
  access: user('read'),
  params: ModPath,
  list: cookListing,
  returns: ok(pageOf(ModfileCookObject)),
  errors: [...NOT_FOUND, 'MODFILE_CANNOT_INSPECT_FILES'],
  handle: async (app, { caller, params, list }) => {
    const { cooks, total } = await listCooksOfMod(app, caller, whichOf(params), list);
    return page(cooks.map(toModfileCook), total, list);
  },
});

export const getModfileCook = operation({
  id: 'get-modfile-cook',
  tag: 'Cooks',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/cooks/{cook_uuid}',
  says: 'Shows one cook with its log. Allowed for the teams of the mod and its game.',
  access: user('read'),
  params: CookPath,
  returns: ok(ModfileCookObject),
  errors: [...NOT_FOUND, 'MODFILE_CANNOT_INSPECT_FILES'],
  handle: async (app, { caller, params }) =>
    toModfileCook(await requireCookOfMod(app, caller, whichOf(params), params.cook_uuid)),
});

export const startCook = operation({
  id: 'start-cook',
  tag: 'Cooks',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/cooks',
  says: 'Cooks a source for its locked platforms, on the next free runners. A cook that is already open is returned instead of starting a second one. Allowed for managers and administrators of the mod’s team or its game.',
  access: user('write'),
  limit: 30,
  params: ModPath,
  body: z.object({
    modfile: z.int().min(1).optional().meta({ description: 'The id of the source. Default: the newest one.' }),
    platforms: z
      .array(z.string().trim().toLowerCase().pipe(z.enum(PLATFORMS)))
      .max(PLATFORMS.length)
      .transform((names) => [...new Set(names)])
      .optional()
      .meta({ description: 'Some of the source’s locked platforms. Default: all of them.' }),
    active: z.boolean().default(true).meta({ description: 'Make the files live where they need no approval.' }),
  }),
  emptyBody: true,
  returns: ok(pageOf(ModfileCookObject)),
  errors: [
    ...NOT_FOUND,
    'MODFILE_NOT_FOUND',
    'MODFILE_NO_UPLOAD_PERMISSION',
    'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN',
    'GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES',
  ],
  handle: async (app, { caller, params, body }) => {
    const wish = { sourceId: body.modfile, platforms: body.platforms, active: body.active };
    const cooks = await startCooks(app, caller, whichOf(params), wish);
    const objects = cooks.map((cook) => toModfileCook({ cook, logs: [] }));
    return page(objects, cooks.length, { limit: 100, offset: 0 });
  },
});

export const cancelCookOperation = operation({
  id: 'cancel-cook',
  tag: 'Cooks',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/cooks/{cook_uuid}',
  says: 'Cancels a waiting or running cook. One that has ended stays as it is. Allowed for managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: CookPath,
  returns: ok(ModfileCookObject),
  errors: [...NOT_FOUND, 'MODFILE_NO_UPLOAD_PERMISSION'],
  handle: async (app, { caller, params }) =>
    toModfileCook(await cancelCook(app, caller, whichOf(params), params.cook_uuid)),
});

export const cookOperations = [getCooks, browseModfileCooks, getModfileCook, startCook, cancelCookOperation];
