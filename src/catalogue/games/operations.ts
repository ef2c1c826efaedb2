import { z } from 'zod';
import { userJson } from '../../people/users/object.ts';
import { contentReader, reader, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { GamePath, MessageObject, pageOf, pageOfAll, pageOfSummed, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, type Input, Json, noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { type SummedItem, summed } from '../../platform/text/assembled-json.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { PLAN_REFUSALS } from '../plans/plans.ts';
import { GameTagOptionObject, toTagOption } from '../tag-options/object.ts';
import { optionsOn, tagCountsOn } from '../tag-options/platforms.ts';
import { GameChangesBody, NewGameBody } from './changes.ts';
import { deleteGame, editGame, submitGame } from './editing.ts';
import { listGames, requireGameDocument, type StoredGame, tagOptionsOfGame, withTagsOn } from './games.ts';
import { gameListing } from './listing.ts';
import { addGameImages, GAME_IMAGES, removeGameImages } from './media.ts';
import { GameObject, GameStatsObject, NewGameObject, toGameStats } from './object.ts';
import { REDIRECT_URIS_MAX, setRedirectUris, validateRedirectUris } from './redirect-uris.ts';
import { statsOfGame } from './stats.ts';

const ShowHiddenTags = z.object({
  show_hidden_tags: z
    .boolean()
    .default(false)
    .meta({ description: 'Also show tag groups that players cannot pick themselves.' }),
});

const KILOBYTE = 1_024;
const MEGABYTE = 1_024 * KILOBYTE;

const IMAGES = {
  logo: { bytesMax: 8 * MEGABYTE, says: 'PNG, JPEG, GIF or WebP of at least 640 by 360 pixels.' },
  icon: { bytesMax: MEGABYTE, says: 'PNG, JPEG, GIF or WebP of at least 64 by 64 pixels.' },
  header: { bytesMax: 256 * KILOBYTE, says: 'PNG, JPEG, GIF or WebP of at least 400 by 100 pixels.' },
};

export const getGames = operation({
  id: 'get-games',
  tag: 'Games',
  method: 'GET',
  path: '/games',
  says: 'Lists the games that the caller may see.',
  access: reader(),
  query: ShowHiddenTags,
  list: gameListing,
  returns: ok(pageOf(GameObject)),
  errors: [],
  handle: async (app, input) => answerList(app, input, false),
});

export const getUserGames = operation({
  id: 'get-user-games',
  tag: 'Me',
  method: 'GET',
  path: '/me/games',
  says: 'Lists the games whose team the user belongs to.',
  access: user('read'),
  query: ShowHiddenTags,
  list: gameListing,
  returns: ok(pageOf(GameObject)),
  errors: [],
  handle: async (app, input) => answerList(app, input, true),
});

export const getGame = operation({
  id: 'get-game',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}',
  says: 'Shows one game. A game that is not accepted is visible to its own key, its team and its previewers.',
  access: contentReader(),
  params: GamePath,
  query: ShowHiddenTags,
  returns: ok(GameObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_VIEW_PERMISSION'],
  handle: async (app, input) => {
    const { params, query } = input;
    const game = await requireGameDocument(
      app.db,
      input.caller,
      params.game_id,
      input.language,
      query.show_hidden_tags,
    );
    input.cache(`games/${game.game_id}`, `users/${game.id}`);
    // On a platform the counts of tags change with every mod.
    if (input.platform !== undefined) input.cache(`games/${game.game_id}/mods`);
    const [shown] = await withTagsOn(app, [game], input.platform);
    const { text, bytes, checksum } = summedGame(app, shown!, input.portal);
    return new Json(text, { bytes: bytes.length, checksum });
  },
});

const addGameOperation = operation({
  id: 'add-game',
  tag: 'Games',
  method: 'POST',
  path: '/games',
  says: 'Adds a game, for users who have accepted the agreement for games. Only its own key and team see it until a member of the site staff accepts it. The response contains its API key, which is not shown again.',
  access: user('write', 'team'),
  limit: 10,
  body: NewGameBody,
  files: { ...IMAGES, logo: { ...IMAGES.logo, required: true } },
  once: true,
  returns: created(NewGameObject),
  errors: [
    'GAME_CREATE_NO_AGREEMENT',
    'GAME_NO_UPDATE_PERMISSION',
    'GAME_NO_UPDATE_STATUS_PERMISSION',
    'GAME_MUST_HAVE_ONE_UNLOCKED_PLATFORM',
    ...PLAN_REFUSALS,
  ],
  handle: async (app, { caller, body, files, language, contentLanguage, portal }) => {
    const edit = { changes: body, written: contentLanguage, answered: language };
    const game = await submitGame(app, caller, files, edit);
    const json = `${gameJson(app, game, portal).slice(0, -1)},"api_key":${JSON.stringify(game.api_key)}}`;
    return new Created(new Json(json), `${app.addresses.gameApi(game.game_id)}/games/${game.game_id}`);
  },
});

export const editGameOperation = operation({
  id: 'edit-game',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}',
  says: 'Changes settings of a game. For its managers and administrators; only administrators change settings about money; only the site staff change its status, or its administrators where the game allows it.',
  access: user('write', 'team'),
  ends: ['games'],
  params: GamePath,
  body: GameChangesBody,
  returns: ok(GameObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GAME_NO_UPDATE_PERMISSION',
    'GAME_NO_UPDATE_STATUS_PERMISSION',
    'GAME_NO_ADMIN_PERMISSION',
    'GAME_MUST_HAVE_ONE_UNLOCKED_PLATFORM',
    ...PLAN_REFUSALS,
    'GAME_NO_AGREEMENT',
    'PREVIEW_CANNOT_ENABLE_RESOURCE_IS_PUBLIC',
  ],
  handle: async (app, { caller, params, body, language, contentLanguage, portal }) => {
    const edit = { changes: body, written: contentLanguage, answered: language };
    return new Json(gameJson(app, await editGame(app, caller, params.game_id, edit), portal));
  },
});

export const deleteGameOperation = operation({
  id: 'delete-game',
  tag: 'Games',
  method: 'DELETE',
  path: '/games/{game_id}',
  says: 'Deletes a game that has no mods. For its administrators while it is not accepted, and for the site staff.',
  access: user('write', 'team'),
  ends: ['games'],
  params: GamePath,
  returns: noContent,
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GAME_NO_DELETE_PERMISSION',
    'GAME_CANT_BE_DELETED',
    'GAME_CANT_BE_DELETED_SELLABLE_MODS',
    'GAME_CANT_BE_DELETED_EXISTING_MODS',
  ],
  handle: (app, { caller, params }) => deleteGame(app, caller, params.game_id),
});

export const addGameMedia = operation({
  id: 'add-game-media',
  tag: 'Media',
  method: 'POST',
  path: '/games/{game_id}/media',
  says: 'Replaces the logo, the icon and the header of a game, or those of them that are sent. For its managers and administrators.',
  access: user('write', 'team'),
  params: GamePath,
  files: IMAGES,
  body: z.object({
    redirect_uris: z.array(z.string()).max(REDIRECT_URIS_MAX).min(1).optional().meta({
      description: 'For the OAuth clients of the game that sign users in. Only its administrators can set them.',
    }),
  }),
  returns: ok(MessageObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_MEDIA_NO_ADD_PERMISSION', 'GAME_NO_ADMIN_PERMISSION'],
  handle: async (app, { caller, params, body, files, language }) => {
    const { redirect_uris: uris } = body;
    if (uris) validateRedirectUris(app, uris);
    const hasImages = Object.values(files).some((file) => file !== undefined);
    if (hasImages || !uris) await addGameImages(app, caller, params.game_id, files);
    if (uris) await setRedirectUris(app, caller, params.game_id, uris);
    return { code: 200, message: localise('game_media_added', language) };
  },
});

export const deleteGameMedia = operation({
  id: 'delete-game-media',
  tag: 'Media',
  method: 'DELETE',
  path: '/games/{game_id}/media',
  says: 'Removes the logo, the icon or the header of a game; a placeholder replaces it. For its managers and administrators.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({
    images: z.array(z.enum(GAME_IMAGES)).min(1).max(GAME_IMAGES.length).meta({ description: 'Which of them.' }),
  }),
  returns: noContent,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_MEDIA_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params, body }) => removeGameImages(app, caller, params.game_id, body.images),
});

export const getGameStats = operation({
  id: 'get-game-stats',
  tag: 'Stats',
  method: 'GET',
  path: '/games/{game_id}/stats',
  says: 'Shows the stats of a game; for a platform, where the game has platforms, its mods and downloads there.',
  access: reader(),
  params: GamePath,
  returns: ok(GameStatsObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, platform }) =>
    toGameStats(params.game_id, await statsOfGame(app, caller, params.game_id, platform)),
});

export const getGameTagOptions = operation({
  id: 'get-game-tag-options',
  tag: 'Tags',
  method: 'GET',
  path: '/games/{game_id}/tags',
  says: 'Lists the groups of tags that mods of the game can have, with their translations. For a platform, where the game has platforms, lists those by which players may filter there, with the counts of mods that are live on it.',
  access: reader(),
  params: GamePath,
  query: ShowHiddenTags,
  // The dialect documents a form field here, although clients seldom send a body with a GET.
  body: ShowHiddenTags,
  list: pagesOnly,
  returns: ok(pageOf(GameTagOptionObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, body, list, platform }) => {
    const { groups, translations } = await tagOptionsOfGame(app, caller, params.game_id, body.show_hidden_tags);
    const options = groups.map((group) => toTagOption(group, translations));
    const counts = platform && (await tagCountsOn(app, [params.game_id], platform)).get(params.game_id);
    return pageOfAll(counts ? optionsOn(options, platform, counts) : options, list);
  },
});

async function answerList(
  app: App,
  input: Input<unknown, z.output<typeof ShowHiddenTags>, unknown>,
  ownOnly: boolean,
): Promise<Json> {
  const { caller, list, language, query } = input;
  const { games, total } = await listGames(app, caller, list, language, query.show_hidden_tags, ownOnly);
  const shown = await withTagsOn(app, games, input.platform);
  // Counts on a platform change with the mods of any game, for which there is no scope.
  if (!ownOnly && shown.every((game, index) => game === games[index])) input.cache('games', 'users');
  return pageOfSummed(
    shown.map((game) => summedGame(app, game, input.portal)),
    total,
    list,
  );
}

/** The JSON of games that stay the same from request to request. */
const shownBefore = new WeakMap<StoredGame, SummedItem>();

function summedGame(app: App, game: StoredGame, portal: Portal | undefined): SummedItem {
  if (portal !== undefined) return summed(gameJson(app, game, portal));
  const known = shownBefore.get(game);
  if (known) return known;
  const made = summed(gameJson(app, game, undefined));
  shownBefore.set(game, made);
  return made;
}

/** The stored body, with the fields appended that change independently of the game. */
function gameJson(app: App, game: StoredGame, portal: Portal | undefined): string {
  const stats = JSON.stringify(toGameStats(game.game_id, game));
  return `${game.body},"submitted_by":${userJson(app, game, portal)},"tag_options":${game.tags},"stats":${stats}}`;
}

export const gameOperations = [
  getGames,
  getUserGames,
  getGame,
  addGameOperation,
  editGameOperation,
  deleteGameOperation,
  addGameMedia,
  deleteGameMedia,
  getGameStats,
  getGameTagOptions,
];
