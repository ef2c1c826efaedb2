import { z } from 'zod';
import { REDIRECT_URIS_MAX } from '../../catalogue/games/redirect-uris.ts';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import { anyone, service, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName, type ValidationRule } from '../../platform/errors/catalogue.ts';
import { GamePath, PathId, pageOf, pageOfAll, pagesOnly, TokenExpiry } from '../../platform/http/objects.ts';
import { Created, created, type Input, noContent, ok, operation } from '../../platform/http/operation.ts';
import { beginDeviceLogin, connectAddress, INTERVAL_SECONDS, pollDeviceLogin, SCOPES } from '../devices/devices.ts';
import {
  authenticateClient,
  type Client,
  DEVICE_GRANT,
  editClient,
  GRANTS,
  listClients,
  OVERLAP_MAX_SECONDS,
  registerClient,
  removeClient,
  requireDeviceClient,
  rotateClientSecret,
} from './clients.ts';
import { delegate, requireDelegator } from './delegation.ts';
import { giveServiceToken, redeemCode, refresh, requireGrant, revokeToken, type TokenAnswer } from './grants.ts';
import {
  DeviceAuthorizationObject,
  OauthClientObject,
  OauthClientSecretObject,
  OauthTokenObject,
  oauthRefusal,
  toClientObject,
} from './object.ts';

const ClientCredentials = {
  client_id: z.int().min(1).optional(),
  client_secret: z.string().max(200).optional().meta({ description: 'Or both as `Authorization: Basic …`.' }),
};

const TokenBody = z.object({
  ...ClientCredentials,
  grant_type: z.string().meta({ description: GRANTS.map((grant) => `\`${grant}\``).join(', ') }),
  code: z.string().max(500).optional(),
  redirect_uri: z.string().max(500).optional().meta({ description: 'The same as in the authorization request.' }),
  code_verifier: z.string().max(200).optional(),
  refresh_token: z.string().max(500).optional(),
  device_code: z.string().max(200).optional(),
  scope: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Separated by commas. For a service: `read`, `write`, `update`, `monetization`.' }),
  date_expires: TokenExpiry,
});

type OauthInput<B> = Input<unknown, unknown, B>;
type Credentials = { client_id?: number | undefined; client_secret?: string | undefined };

const wrong = (error: ErrorName, parameter: string, rule: ValidationRule = 'invalid', status?: number): ApiError =>
  new ApiError(error, { fields: [{ field: parameter, rule }], ...(status !== undefined && { status }) });

/** Authenticates the client by its secret in the body or in the header, but not in both (RFC 6749, section 2.3). */
async function requireClient(app: App, { body, basic, hostGameId }: OauthInput<Credentials>): Promise<Client> {
  const { client_id, client_secret } = body;
  if (basic && client_secret) throw wrong('OAUTH_INVALID_REQUEST', 'client_secret', 'repeated');
  const id = basic ? Number(/^\d{1,15}$/.exec(basic.name)?.[0] ?? 0) : client_id;
  if (basic && client_id !== undefined && client_id !== id)
    throw wrong('OAUTH_INVALID_REQUEST', 'client_id', 'repeated');
  if (id === undefined) throw wrong('OAUTH_INVALID_REQUEST', 'client_id', 'required');
  const client = await authenticateClient(app, id, need(basic ? basic.password : client_secret, 'client_secret'));
  // 401 asks for the Authorization header, so it answers only clients that used it (RFC 6749, section 5.2).
  if (!client) throw wrong('OAUTH_INVALID_CLIENT', 'client_secret', 'invalid', basic ? 401 : 400);
  if (hostGameId !== undefined && hostGameId !== client.gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return client;
}

/** A client with a secret, or a device, which cannot have one. */
async function requireDevice(app: App, input: OauthInput<Credentials>): Promise<Client> {
  const { body, basic, hostGameId } = input;
  if (basic || body.client_secret) {
    const client = await requireClient(app, input);
    requireGrant(client, DEVICE_GRANT);
    return client;
  }
  if (body.client_id === undefined) throw wrong('OAUTH_INVALID_REQUEST', 'client_id', 'required');
  const client = await requireDeviceClient(app, body.client_id);
  if (hostGameId !== undefined && hostGameId !== client.gameId) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return client;
}

/** The answer to a polling device (RFC 8628, section 3.5). */
async function answerDevice(app: App, input: OauthInput<z.output<typeof TokenBody>>): Promise<TokenAnswer> {
  const client = await requireDevice(app, input);
  const answer = await pollDeviceLogin(
    app,
    client.id,
    need(input.body.device_code, 'device_code'),
    input.body.date_expires,
  );
  if (typeof answer === 'object') {
    const expires_in = answer.date_expires - app.clock.now();
    return { token_type: 'Bearer', expires_in, access_token: answer.access_token };
  }
  if (answer === 'pending') throw new ApiError('DEVICE_LOGIN_REQUEST_NOT_AUTHORIZED');
  if (answer === 'expired') throw new ApiError('DEVICE_LOGIN_CODE_INVALID', { status: 400 });
  if (answer === 'slow_down') throw new ApiError('OAUTH_SLOW_DOWN');
  throw answer === 'denied' ? new ApiError('OAUTH_ACCESS_DENIED') : wrong('OAUTH_INVALID_GRANT', 'device_code');
}

/** An empty parameter counts as omitted (RFC 6749, section 3.2). */
function need(value: string | undefined, parameter: string): string {
  if (!value) throw wrong('OAUTH_INVALID_REQUEST', parameter, 'required');
  return value;
}

async function answerToken(app: App, input: OauthInput<z.output<typeof TokenBody>>): Promise<TokenAnswer> {
  const { body } = input;
  const type = need(body.grant_type, 'grant_type');
  const grant = GRANTS.find((each) => each === type);
  if (!grant) throw wrong('OAUTH_UNSUPPORTED_GRANT_TYPE', 'grant_type');
  if (grant === DEVICE_GRANT) return answerDevice(app, input);
  const client = await requireClient(app, input);
  requireGrant(client, grant);
  const dateExpires = body.date_expires;
  const scope = body.scope || undefined;
  if (grant === 'client_credentials') return giveServiceToken(app, client, scope, dateExpires);
  if (grant === 'authorization_code') {
    const redirectUri = need(body.redirect_uri, 'redirect_uri');
    const verifier = body.code_verifier || undefined;
    return redeemCode(app, client, { code: need(body.code, 'code'), redirectUri, verifier, dateExpires });
  }
  // RFC 6749 has no such parameter here, so clients that speak plain RFC 6749 do not send it.
  const redirectUri = client.standard ? body.redirect_uri || undefined : need(body.redirect_uri, 'redirect_uri');
  const refreshToken = need(body.refresh_token, 'refresh_token');
  return refresh(app, client, { refreshToken, redirectUri, scope, dateExpires });
}

const OAUTH_ERRORS = ['OAUTH_INVALID_REQUEST', 'OAUTH_INVALID_CLIENT', 'OAUTH_UNEXPECTED_GAME_REFERENCE'] as const;

export const oauthToken = operation({
  id: 'oauth-token',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/token',
  says: 'Issues tokens to a registered client: for a code, for a refresh token, or for its own backend. Errors follow RFC 6749: `error` is a word such as `invalid_grant`.',
  access: anyone(),
  unlocked: 'the account is locked once it is known',
  body: TokenBody,
  returns: ok(OauthTokenObject),
  errors: [
    ...OAUTH_ERRORS,
    'OAUTH_INVALID_GRANT',
    'OAUTH_UNAUTHORIZED_CLIENT',
    'OAUTH_UNSUPPORTED_GRANT_TYPE',
    'OAUTH_INVALID_SCOPE',
    'OAUTH_ACCESS_DENIED',
    'OAUTH_SLOW_DOWN',
    'DEVICE_LOGIN_REQUEST_NOT_AUTHORIZED',
    'DEVICE_LOGIN_CODE_INVALID',
    'USER_DELETED',
    'USER_BANNED',
    'USER_LOCKED',
  ],
  refusal: oauthRefusal,
  strictForm: true,
  sameOrigin: true,
  handle: answerToken,
});

export const oauthDeviceAuthorization = operation({
  id: 'oauth-device-authorization',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/device_authorization',
  says: 'Starts the sign-in of a device without a browser (RFC 8628): a user types the code in a browser, and the token endpoint then issues the token.',
  access: anyone(),
  unlocked: 'a login belongs to no user until it is allowed',
  limit: 10,
  body: z.object({
    ...ClientCredentials,
    scope: z.string().max(200).optional().meta({ description: '`read`, `write`; both by default.' }),
  }),
  returns: ok(DeviceAuthorizationObject),
  errors: [...OAUTH_ERRORS, 'OAUTH_UNAUTHORIZED_CLIENT', 'OAUTH_INVALID_SCOPE', 'GAME_NOT_FOUND', 'GAME_DELETED'],
  refusal: oauthRefusal,
  strictForm: true,
  handle: async (app, input) => {
    const client = await requireDevice(app, input);
    const words = input.body.scope ? input.body.scope.split(/[ ,]+/).filter(Boolean) : [...SCOPES];
    const scopes = SCOPES.filter((scope) => words.includes(scope));
    if (words.length === 0 || scopes.length < new Set(words).size) throw wrong('OAUTH_INVALID_SCOPE', 'scope');
    const login = await beginDeviceLogin(app, { gameId: client.gameId, clientId: client.id, scopes });
    const verification_uri = connectAddress(app);
    return {
      device_code: login.deviceCode,
      user_code: login.code,
      verification_uri,
      verification_uri_complete: `${verification_uri}?code=${login.code}`,
      expires_in: login.dateExpires - app.clock.now(),
      interval: INTERVAL_SECONDS,
    };
  },
});

const oauthRevoke = operation({
  id: 'oauth-revoke',
  tag: 'Authentication',
  method: 'POST',
  path: '/oauth/revoke',
  says: 'Revokes an access, refresh or service token of the client (RFC 7009). Revoking a refresh token ends its whole grant.',
  access: anyone(),
  unlocked: 'it revokes a token and adds nothing',
  body: z.object({
    ...ClientCredentials,
    token: z.string().max(500),
    token_type_hint: z.string().max(100).optional(),
  }),
  returns: ok(z.object({})),
  errors: OAUTH_ERRORS,
  refusal: oauthRefusal,
  strictForm: true,
  sameOrigin: true,
  handle: async (app, input) => {
    await revokeToken(app, await requireClient(app, input), input.body.token);
    return {};
  },
});

export const delegationToken = operation({
  id: 'delegation-token',
  tag: 'Authentication',
  method: 'POST',
  path: '/me/s2s/oauth/token',
  says: 'Issues a token with which the game’s backend acts for the user for 15 minutes.',
  access: user('read', 'profile'),
  returns: ok(z.object({ entity: z.literal('purchase_server'), token: z.string() })),
  errors: ['OAUTH_IS_FIRST_PARTY_CLIENT', 'OAUTH_UNEXPECTED_GAME_REFERENCE'],
  handle: async (app, { caller, hostGameId }) => ({
    entity: 'purchase_server' as const,
    token: delegate(app, caller, hostGameId),
  }),
});

export const getDelegatingUser = operation({
  id: 's-2-s-get-user',
  tag: 'S2S',
  method: 'GET',
  path: '/s2s/user',
  says: 'Shows the user of the delegation token in `X-Service-Delegation-Token`.',
  access: service('read'),
  returns: ok(UserObject),
  errors: ['USER_TOKEN_ISSUE_MISMATCH', 'USER_NOT_FOUND'],
  handle: async (app, { caller, delegationToken: token, portal }) =>
    toUserObject(app, await requireDelegator(app, caller, token), portal),
});

const ClientPath = GamePath.extend({ client_id: PathId });

export const getOauthClients = operation({
  id: 'get-oauth-clients',
  tag: 'OAuth clients',
  method: 'GET',
  path: '/games/{game_id}/oauth/clients',
  says: 'Lists the registered clients of a game. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(OauthClientObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'],
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listClients(app, caller, params.game_id)).map(toClientObject), list),
});

const ClientName = z.string().trim().min(1).max(80).meta({
  description:
    'Shown to users on the consent page. It must not resemble a name of the service, its staff, another game or another game’s application.',
});
const RedirectUris = z
  .array(z.string())
  .max(REDIRECT_URIS_MAX)
  .meta({ description: `The clients of a game have at most ${REDIRECT_URIS_MAX} together.` });
const Standard = z.boolean().meta({
  description:
    'The client may omit `grant_type` at the authorization page and `redirect_uri` at a refresh, as RFC 6749 allows.',
});
const RequiresPkce = z.boolean().meta({ description: 'Refuse sign-ins without a code challenge.' });
const CLIENT_ERRORS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;

export const addOauthClient = operation({
  id: 'add-oauth-client',
  tag: 'OAuth clients',
  method: 'POST',
  path: '/games/{game_id}/oauth/clients',
  says: 'Registers a client of a game and shows its secret, which is not shown again. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({
    name: ClientName,
    redirect_uris: RedirectUris.default([]),
    grants: z.array(z.enum(GRANTS)).default(['client_credentials']),
    requires_pkce: RequiresPkce.default(true),
    standard: Standard.default(false),
  }),
  once: true,
  returns: created(OauthClientSecretObject),
  errors: [...CLIENT_ERRORS, 'OAUTH_CLIENT_DATA_NOT_VALID'],
  handle: async (app, { caller, params: { game_id: gameId }, body }) => {
    const { redirect_uris: redirectUris, requires_pkce: requiresPkce, ...rest } = body;
    const client = await registerClient(app, caller, { gameId, redirectUris, requiresPkce, ...rest });
    return new Created(client, `${app.addresses.gameApi(gameId)}/games/${gameId}/oauth/clients/${client.client_id}`);
  },
});

export const editOauthClient = operation({
  id: 'edit-oauth-client',
  tag: 'OAuth clients',
  method: 'PUT',
  path: '/games/{game_id}/oauth/clients/{client_id}',
  says: 'Changes the sent fields of a client of a game. Administrators of the game only.',
  access: user('write', 'team'),
  params: ClientPath,
  body: z.object({
    name: ClientName.optional(),
    redirect_uris: RedirectUris.optional(),
    requires_pkce: RequiresPkce.optional(),
    standard: Standard.optional(),
  }),
  returns: ok(OauthClientObject),
  errors: [...CLIENT_ERRORS, 'OAUTH_CLIENT_DATA_NOT_VALID'],
  handle: async (app, { caller, params, body }) => {
    const { name, redirect_uris: redirectUris, requires_pkce: requiresPkce, standard } = body;
    const changes = {
      ...(name !== undefined && { name }),
      ...(redirectUris && { redirectUris }),
      ...(requiresPkce !== undefined && { requiresPkce }),
      ...(standard !== undefined && { standard }),
    };
    return toClientObject(await editClient(app, caller, params.game_id, params.client_id, changes));
  },
});

export const rotateOauthClientSecret = operation({
  id: 'rotate-oauth-client-secret',
  tag: 'OAuth clients',
  method: 'PUT',
  path: '/games/{game_id}/oauth/clients/{client_id}/secret',
  says: 'Replaces the secret of a client and shows it once. The old secret and the tokens issued with it end at once, unless the request asks for an overlap.',
  access: user('write', 'team'),
  params: ClientPath,
  query: z.object({
    overlap: z.int().min(0).max(OVERLAP_MAX_SECONDS).default(0).meta({
      description: 'The seconds for which the old secret stays valid beside the new one. Tokens then stay valid, too.',
    }),
  }),
  returns: ok(OauthClientSecretObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'],
  handle: (app, { caller, params, query }) =>
    rotateClientSecret(app, caller, params.game_id, { id: params.client_id, overlapSeconds: query.overlap }),
});

export const deleteOauthClient = operation({
  id: 'delete-oauth-client',
  tag: 'OAuth clients',
  method: 'DELETE',
  path: '/games/{game_id}/oauth/clients/{client_id}',
  says: 'Removes a client of a game and revokes all of its tokens.',
  access: user('write', 'team'),
  params: ClientPath,
  returns: noContent,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'],
  handle: (app, { caller, params }) => removeClient(app, caller, params.game_id, params.client_id),
});

export const oauthOperations = [
  oauthToken,
  oauthDeviceAuthorization,
  oauthRevoke,
  delegationToken,
  getDelegatingUser,
  getOauthClients,
  addOauthClient,
  editOauthClient,
  rotateOauthClientSecret,
  deleteOauthClient,
];
