import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import {
  GamePath,
  Id,
  Integer,
  PathId,
  pageOf,
  pageOfAll,
  pagesOnly,
  Timestamp,
  TokenExpiry,
} from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  addServerToken,
  deleteServerToken,
  editServerSettings,
  listServerTokens,
  MODS_MAX,
  type ServerToken,
  serverSettings,
} from './server-tokens.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_VIEW_PERMISSION', 'GAME_NO_ADMIN_PERMISSION'] as const;

const tokenFields = {
  id: Id,
  name: z.string(),
  scope: z.enum(['game', 'mods', 'collection']),
  mod_ids: z.array(Id).meta({ description: 'With the scope `mods`. The mods that these depend on are included.' }),
  collection_id: Id.nullable().meta({ description: 'With the scope `collection`, as it is at the time of a request.' }),
  requests_per_minute: Integer.nullable().meta({ description: 'Its own limit; null for that of users.' }),
  date_added: Timestamp,
  date_expires: Timestamp,
};
const ServerTokenObject = z.object(tokenFields).meta({ id: 'ServerToken' });
const NewServerTokenObject = z
  .object({ ...tokenFields, access_token: z.string().meta({ description: 'Shown this once.' }) })
  .meta({ id: 'NewServerToken' });

const toServerToken = (token: ServerToken): z.input<typeof ServerTokenObject> => ({
  id: token.id,
  name: token.name,
  scope: token.scope,
  mod_ids: [...token.modIds],
  collection_id: token.collection_id,
  requests_per_minute: token.requests_per_minute,
  date_added: token.date_added,
  date_expires: token.date_expires,
});

export const getGameServerTokens = operation({
  id: 'get-game-server-tokens',
  tag: 'Servers',
  method: 'GET',
  path: '/games/{game_id}/server-tokens',
  says: 'Lists the read-only tokens of a game’s servers. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(ServerTokenObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listServerTokens(app, caller, params.game_id)).map(toServerToken), list),
});

export const addGameServerToken = operation({
  id: 'add-game-server-token',
  tag: 'Servers',
  method: 'POST',
  path: '/games/{game_id}/server-tokens',
  says: 'Creates a token with which a dedicated server reads and downloads the content of a game: all of it, a list of mods or a collection, each with the mods that these depend on. It writes nothing and reads no other data. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePath,
  body: z
    .object({
      name: z.string().trim().min(1).max(80).meta({ description: 'The purpose of the token.' }),
      mod_ids: z.array(Id).min(1).max(MODS_MAX).optional(),
      collection_id: Id.optional(),
      requests_per_minute: z.int().min(1).max(100_000).optional(),
      date_expires: TokenExpiry,
    })
    .refine(({ mod_ids, collection_id }) => mod_ids === undefined || collection_id === undefined, {
      path: ['collection_id'],
      params: { rule: 'invalid' },
    }),
  once: true,
  returns: created(NewServerTokenObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const { token, secret } = await addServerToken(app, caller, params.game_id, {
      name: body.name,
      modIds: body.mod_ids,
      collectionId: body.collection_id,
      requestsPerMinute: body.requests_per_minute,
      dateExpires: body.date_expires,
    });
    const address = `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/server-tokens`;
    return new Created({ ...toServerToken(token), access_token: secret }, address);
  },
});

export const deleteGameServerToken = operation({
  id: 'delete-game-server-token',
  tag: 'Servers',
  method: 'DELETE',
  path: '/games/{game_id}/server-tokens/{server_token_id}',
  says: 'Revokes a server token at once. Administrators of the game only.',
  access: user('write', 'team'),
  params: z.object({ game_id: PathId, server_token_id: PathId }),
  returns: noContent,
  errors: [...REFUSALS, 'OAUTH_TOKEN_ALREADY_DELETED'],
  handle: (app, { caller, params }) => deleteServerToken(app, caller, params.game_id, params.server_token_id),
});

const ServerSettingsObject = z
  .object({
    anonymous_access: z.boolean().meta({ description: 'Everyone reads the free, public content without credentials.' }),
  })
  .meta({ id: 'GameServerSettings' });

export const getGameServerSettings = operation({
  id: 'get-game-server-settings',
  tag: 'Servers',
  method: 'GET',
  path: '/games/{game_id}/server-settings',
  says: 'Shows whether servers and other clients read the free content of a game without credentials. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(ServerSettingsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params }) => ({
    anonymous_access: (await serverSettings(app, caller, params.game_id)).anonymous,
  }),
});

export const editGameServerSettings = operation({
  id: 'edit-game-server-settings',
  tag: 'Servers',
  method: 'PUT',
  path: '/games/{game_id}/server-settings',
  says: 'Opens or closes the free, public content of a game to callers without credentials. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ anonymous_access: z.boolean() }),
  returns: ok(ServerSettingsObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    await editServerSettings(app, caller, params.game_id, body.anonymous_access);
    return { anonymous_access: body.anonymous_access };
  },
});

export const serverTokenOperations = [
  getGameServerTokens,
  addGameServerToken,
  deleteGameServerToken,
  getGameServerSettings,
  editGameServerSettings,
];
