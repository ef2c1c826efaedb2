import { z } from 'zod';
import { contentReader, reader, user } from '../../platform/access/caller.ts';
import { Id, MessageObject, ModPath, page, pageOf, pageOfJson, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { linksChangeAt } from '../live-files/links.ts';
import { isVisibleToClass } from '../mods/access.ts';
import {
  addDependencies,
  listDependants,
  listDependencies,
  PER_REQUEST_MAX,
  removeDependencies,
} from './dependencies.ts';
import { dependencyJson, ModDependantObject, ModDependencyObject, toModDependant } from './object.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

const scopesOf = (gameId: number, modId: number) =>
  [`mods/${modId}`, `games/${gameId}/mods`, `games/${gameId}`, 'users'] as const;

export const getModDependencies = operation({
  id: 'get-mod-dependencies',
  tag: 'Dependencies',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/dependencies',
  says: 'Lists the dependencies of a mod, whatever their status, visibility and platforms. Mods that the caller may not see have only their identifiers.',
  access: contentReader(),
  params: ModPath,
  query: z.object({
    recursive: z
      .boolean()
      .default(false)
      .meta({ description: 'Also list indirect dependencies, five levels deep; each mod is listed once.' }),
  }),
  list: pagesOnly,
  returns: ok(pageOf(ModDependencyObject)),
  errors: NOT_FOUND,
  handle: async (app, { caller, params, query, list, language, platform, portal, cache, cacheUntil }) => {
    const { game_id: gameId, mod_id: modId } = params;
    const which = { gameId, modId, recursive: query.recursive };
    const { listed, total } = await listDependencies(app, caller, which, list, language, platform);
    if (await isVisibleToClass(app.db, caller, params.mod_id)) cache(...scopesOf(gameId, modId));
    cacheUntil(linksChangeAt(app.clock.now()));
    return pageOfJson(
      listed.map((each) => dependencyJson(app, each, portal)),
      total,
      list,
    );
  },
});

export const getModDependants = operation({
  id: 'get-mod-dependants',
  tag: 'Dependencies',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/dependants',
  says: 'Lists the mods that depend on a mod, as far as the caller may see them, whatever their platforms.',
  access: reader(),
  params: ModPath,
  list: pagesOnly,
  returns: ok(pageOf(ModDependantObject)),
  errors: NOT_FOUND,
  handle: async (app, { caller, params, list, language, cache }) => {
    const { mods, total } = await listDependants(app, caller, params.game_id, params.mod_id, list, language);
    if (await isVisibleToClass(app.db, caller, params.mod_id)) cache(...scopesOf(params.game_id, params.mod_id));
    return page(
      mods.map((mod) => toModDependant(app, mod)),
      total,
      list,
    );
  },
});

export const addModDependencies = operation({
  id: 'add-mod-dependencies',
  tag: 'Dependencies',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/dependencies',
  says: 'Adds dependencies on mods of the same game to a mod. For managers and administrators of its team or its game, where the game and those mods allow it.',
  access: user('write'),
  params: ModPath,
  body: z
    .object({
      dependencies: z.array(Id).max(PER_REQUEST_MAX).default([]),
      sync: z.boolean().default(false).meta({ description: 'Replace what the mod needs so far.' }),
    })
    .refine(({ dependencies, sync }) => sync || dependencies.length > 0, {
      path: ['dependencies'],
      params: { rule: 'required' },
    }),
  rules: true,
  returns: created(MessageObject),
  errors: ['RULES_BASED_MODERATION_FAILURE', ...NOT_FOUND, 'MOD_DEPENDENCY_NO_ADD_PERMISSION'],
  handle: async (app, { caller, params, body, language }) => {
    const { game_id, mod_id } = params;
    await addDependencies(app, caller, game_id, mod_id, { ids: body.dependencies, sync: body.sync });
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}/dependencies`;
    return new Created({ code: 201, message: localise('dependencies_added', language) }, address);
  },
});

export const deleteModDependencies = operation({
  id: 'delete-mod-dependencies',
  tag: 'Dependencies',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/dependencies',
  says: 'Removes dependencies of a mod. For managers and administrators of its team or its game.',
  access: user('write'),
  params: ModPath,
  body: z.object({ dependencies: z.array(Id).min(1).max(PER_REQUEST_MAX) }),
  returns: noContent,
  errors: [...NOT_FOUND, 'MOD_DEPENDENCY_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params, body }) =>
    removeDependencies(app, caller, params.game_id, params.mod_id, body.dependencies),
});

export const dependencyOperations = [getModDependencies, getModDependants, addModDependencies, deleteModDependencies];
