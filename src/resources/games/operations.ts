import { z } from 'zod';
import { reader, user } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import { GamePath, pageOf, pageOfAll, pageOfJson } from '../../http/objects.ts';
import { type Input, Json, ok, operation } from '../../http/operation.ts';
import { translationsOf } from '../../localisation/translations.ts';
import { toUserObject } from '../users/object.ts';
import { requireUser } from '../users/users.ts';
import { GameChangesBody } from './changes.ts';
import { editGame, listGames, requireGameDocument, type StoredGame, statsOfGame, tagGroupsOfGame } from './games.ts';
import { gameListing } from './listing.ts';
import { GameObject, GameStatsObject, GameTagOptionObject, toGameStats, toTagOption } from './object.ts';

const ShowHiddenTags = z.object({
  show_hidden_tags: z
    .boolean()
    .default(false)
    .meta({ description: 'Also show tag groups that players cannot pick themselves.' }),
});

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
  says: 'Lists the games in whose teams the person is.',
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
  says: 'Shows one game. A game that is not accepted is seen by its own key and its team alone.',
  access: reader(),
  params: GamePath,
  query: ShowHiddenTags,
  returns: ok(GameObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, input) => {
    const { params, query } = input;
    const game = await requireGameDocument(app, input.caller, params.game_id, input.language, query.show_hidden_tags);
    input.keep(`games/${game.id}`, `users/${game.submitted_by}`);
    return new Json(await gameJson(app, game));
  },
});

export const editGameOperation = operation({
  id: 'edit-game',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}',
  says: 'Changes settings of a game. Its managers and administrators may; its status only those who run the site, or its administrators where the game allows.',
  access: user('write'),
  params: GamePath,
  body: GameChangesBody,
  returns: ok(GameObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION', 'GAME_NO_UPDATE_STATUS_PERMISSION'],
  handle: async (app, { caller, params, body, language, contentLanguage }) => {
    await editGame(app, caller, params.game_id, body, contentLanguage);
    return new Json(await gameJson(app, await requireGameDocument(app, caller, params.game_id, language, true)));
  },
});

export const getGameStats = operation({
  id: 'get-game-stats',
  tag: 'Stats',
  method: 'GET',
  path: '/games/{game_id}/stats',
  says: 'Shows the figures of a game.',
  access: reader(),
  params: GamePath,
  returns: ok(GameStatsObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params }) =>
    toGameStats(params.game_id, await statsOfGame(app, caller, params.game_id)),
});

export const getGameTagOptions = operation({
  id: 'get-game-tag-options',
  tag: 'Tags',
  method: 'GET',
  path: '/games/{game_id}/tags',
  says: 'Lists the groups of tags that mods of the game can have, with their translations.',
  access: reader(),
  params: GamePath,
  query: ShowHiddenTags,
  returns: ok(pageOf(GameTagOptionObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, query, list }) => {
    const groups = await tagGroupsOfGame(app, caller, params.game_id, query.show_hidden_tags);
    const translations = await translationsOf(app.db.query, 'games', params.game_id);
    return pageOfAll(
      groups.map((group) => toTagOption(group, translations)),
      list,
    );
  },
});

async function answerList(
  app: App,
  input: Input<unknown, z.output<typeof ShowHiddenTags>, unknown>,
  ownOnly: boolean,
): Promise<Json> {
  const { caller, list, language, query } = input;
  const { games, total } = await listGames(app, caller, list, language, query.show_hidden_tags, ownOnly);
  if (!ownOnly) input.keep('games', 'users');
  return pageOfJson(await Promise.all(games.map((game) => gameJson(app, game))), total, list);
}

/** The stored body, and behind it what changes without the game. */
async function gameJson(app: App, game: StoredGame): Promise<string> {
  const submitter = JSON.stringify(toUserObject(app, await requireUser(app, game.submitted_by)));
  const stats = JSON.stringify(toGameStats(game.id, game));
  return `${game.body},"submitted_by":${submitter},"tag_options":${game.tags},"stats":${stats}}`;
}

export const gameOperations = [getGames, getUserGames, getGame, editGameOperation, getGameStats, getGameTagOptions];
