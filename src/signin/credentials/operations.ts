import { z } from 'zod';
import { type UserCaller, user } from '../../platform/access/caller.ts';
import {
  GamePath,
  Id,
  PathId,
  pageOf,
  pageOfAll,
  pagesOnly,
  Timestamp,
  TokenExpiry,
} from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  deleteKey,
  deleteToken,
  listTokens,
  makeKey,
  makeToken,
  requireKey,
  rotateGameKey,
  rotateKey,
  type TokenRow,
} from './credentials.ts';

const Scope = z.enum(['read', 'write']);

const OwnTokenObject = z
  .object({
    id: Id,
    name: z.string().nullable(),
    scopes: z.array(z.string()),
    game_id: Id.nullable().meta({ description: 'The game in which the user signed in.' }),
    client: z.object({ id: Id, name: z.string() }).nullable().meta({ description: 'The application that uses it.' }),
    is_current: z.boolean(),
    date_added: Timestamp,
    date_expires: Timestamp,
  })
  .meta({ id: 'OwnToken' });

const toOwnToken = (token: TokenRow, { tokenId }: UserCaller): z.input<typeof OwnTokenObject> => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes.split(' '),
  game_id: token.game_id,
  client: token.client_id === null ? null : { id: token.client_id, name: token.client_name ?? '' },
  is_current: token.id === tokenId,
  date_added: token.date_added,
  date_expires: token.date_expires,
});

export const getOwnTokens = operation({
  id: 'get-own-tokens',
  tag: 'Me',
  method: 'GET',
  path: '/me/tokens',
  says: 'Lists the active access tokens of the user. The secrets are shown only on creation.',
  access: user('read', 'account'),
  list: pagesOnly,
  returns: ok(pageOf(OwnTokenObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const tokens = await listTokens(app, caller);
    return pageOfAll(
      tokens.map((token) => toOwnToken(token, caller)),
      list,
    );
  },
});

export const addOwnToken = operation({
  id: 'add-own-token',
  tag: 'Me',
  method: 'POST',
  path: '/me/tokens',
  says: 'Creates an access token for a script or server of the user. The secret is shown only in this answer.',
  access: user('write', 'account'),
  limit: 10,
  body: z.object({
    name: z.string().trim().min(1).max(80).meta({ description: 'The purpose of the token.' }),
    scopes: z.array(Scope).min(1).meta({ description: 'At most the scopes of the calling token.' }),
    date_expires: TokenExpiry,
  }),
  once: true,
  returns: created(z.object({ access_token: z.string(), date_expires: Timestamp })),
  errors: [],
  handle: async (app, { caller, body }) => {
    const { name, scopes, date_expires: dateExpires } = body;
    const token = await makeToken(app, caller, { name, scopes, dateExpires });
    return new Created(token, `${app.addresses.api}/me/tokens`);
  },
});

export const deleteOwnToken = operation({
  id: 'delete-own-token',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/tokens/{token_id}',
  says: 'Revokes an access token. If an application uses it, the whole grant of the application ends.',
  access: user('write', 'account'),
  params: z.object({ token_id: PathId }),
  returns: noContent,
  errors: ['OAUTH_TOKEN_ALREADY_DELETED', 'OAUTH_TOKEN_DELETE_NO_PERMISSION'],
  handle: (app, { caller, params }) => deleteToken(app, caller, params.token_id),
});

const KeyObject = z.object({ api_key: z.string().meta({ description: 'Shown this once.' }) });

export const getOwnKey = operation({
  id: 'get-own-api-key',
  tag: 'Me',
  method: 'GET',
  path: '/me/api-key',
  says: 'Shows when the user’s API key was created. The key is shown only on creation.',
  access: user('read', 'profile'),
  returns: ok(z.object({ date_added: Timestamp })),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: (app, { caller }) => requireKey(app, caller),
});

export const addOwnKey = operation({
  id: 'add-own-api-key',
  tag: 'Me',
  method: 'POST',
  path: '/me/api-key',
  says: 'Creates the user’s API key, if there is none.',
  access: user('write', 'profile'),
  returns: created(KeyObject),
  errors: ['API_KEY_ALREADY_EXISTS_FOR_USER', 'API_KEY_NO_ACCESS_FOR_REFRESH'],
  handle: async (app, { caller }) =>
    new Created({ api_key: await makeKey(app, caller) }, `${app.addresses.api}/me/api-key`),
});

export const rotateOwnKey = operation({
  id: 'rotate-own-api-key',
  tag: 'Me',
  method: 'PUT',
  path: '/me/api-key',
  says: 'Replaces the user’s API key. The old one stops working at once.',
  access: user('write', 'profile'),
  returns: ok(KeyObject),
  errors: ['API_KEY_NO_ACCESS_FOR_REFRESH'],
  handle: async (app, { caller }) => ({ api_key: await rotateKey(app, caller) }),
});

export const deleteOwnKey = operation({
  id: 'delete-own-api-key',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/api-key',
  says: 'Deletes the user’s API key.',
  access: user('write', 'profile'),
  returns: noContent,
  errors: ['API_KEY_NO_ACCESS_FOR_REFRESH'],
  handle: (app, { caller }) => deleteKey(app, caller),
});

export const rotateGameKeyOperation = operation({
  id: 'rotate-game-api-key',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}/api-key',
  says: 'Replaces the API key of a game. The old one stops working at once, also in copies of the game that shipped with it. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePath,
  returns: ok(KeyObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'API_KEY_NO_ACCESS_FOR_REFRESH', 'PERMISSION_CHANGE_PENDING_REVIEW'],
  handle: async (app, { caller, params }) => ({ api_key: await rotateGameKey(app, caller, params.game_id) }),
});

export const credentialOperations = [
  getOwnTokens,
  addOwnToken,
  deleteOwnToken,
  getOwnKey,
  addOwnKey,
  rotateOwnKey,
  deleteOwnKey,
  rotateGameKeyOperation,
];
