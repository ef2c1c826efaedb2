import { z } from 'zod';
import { toUserStatusObject, UserStatusObject } from '../../people/users/object.ts';
import { authentication, type KeyCaller, service, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { ErrorName } from '../../platform/errors/catalogue.ts';
import {
  AccessTokenObject,
  GamePath,
  Id,
  MessageObject,
  pageOf,
  pageOfAll,
  pagesOnly,
  TokenExpiry,
} from '../../platform/http/objects.ts';
import { Created, created, type Input, noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise, localiseLater } from '../../platform/localisation/texts.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { confirm, register } from './email-confirmation.ts';
import type { Credentials } from './identity.ts';
import { connectionsOf, disconnect, link, unlink } from './linking.ts';
import { ConnectionObject, GamePortalObject, toConnection, toGamePortal } from './object.ts';
import { changeSettings, listSettings, removeSettings } from './settings.ts';
import { PortalSettingsBody } from './settings-body.ts';
import { signIn, signInByDelegation } from './signing-in.ts';
import { testPortal } from './testing.ts';
import type { ProbeStep } from './web/flow.ts';
import { callbackOf } from './web/signing-in.ts';

/** Tokens of platforms have a few kilobytes. */
const Token = z.string().trim().min(1).max(16_384);
const Email = z.string().trim().max(254).pipe(z.email());

const Consent = {
  terms_agreed: z.boolean().default(false).meta({ description: 'Whether the user has agreed to the terms.' }),
  date_expires: TokenExpiry,
};
const WithEmail = {
  ...Consent,
  email: Email.optional().meta({ description: 'Gets a mail with a code for `POST /me/authenticate`.' }),
};

/** Errors that all portals share. */
const REFUSALS = [
  'ACTION_RESTRICTED_GAME_API_KEY',
  'GAME_NOT_FOUND',
  'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  'NO_TERMS_AGREEMENT',
  'PORTAL_ACCOUNT_ALREADY_EXISTS',
  'USER_DELETED',
  'USER_BANNED',
  'USER_LOCKED',
] as const satisfies readonly ErrorName[];

const OF_PORTALS = {
  apple: [
    'APPLE_INVALID_TOKEN',
    'APPLE_INVALID_TOKEN_NOT_VALID_AFTER',
    'APPLE_BUNDLE_ID_NOT_CONFIGURED',
    'APPLE_BUNDLE_ID_NOT_VALID',
  ],
  discord: ['DISCORD_UNABLE_TO_GET_ACCOUNT_DATA'],
  epicgames: [
    'EPIC_GAMES_INVALID_TOKEN',
    'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_BEFORE',
    'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_AFTER',
    'EPIC_GAMES_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
    'EPIC_GAMES_UNABLE_TO_GET_JWK_SIGNATURE',
    'EPIC_GAMES_UNABLE_TO_GET_ACCOUNT_DATA',
  ],
  facebook: ['FACEBOOK_INVALID_TOKEN', 'FACEBOOK_UNABLE_TO_GET_ACCOUNT_DATA'],
  gog: ['GOG_APP_TICKET_INVALID', 'GOG_NO_SECRET_TICKET', 'GOG_UNABLE_TO_GET_ACCOUNT_DATA'],
  google: [
    'GOOGLE_INVALID_TOKEN',
    'GOOGLE_INVALID_TOKEN_NOT_VALID_BEFORE',
    'GOOGLE_INVALID_TOKEN_NOT_VALID_AFTER',
    'GOOGLE_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
    'GOOGLE_UNABLE_TO_GET_JWK_SIGNATURE',
    'GOOGLE_UNABLE_TO_GET_ACCOUNT_DATA',
  ],
  itchio: ['ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA'],
  nintendo: [
    'SWITCH_INVALID_TOKEN',
    'SWITCH_INVALID_TOKEN_NOT_VALID_BEFORE',
    'SWITCH_INVALID_TOKEN_NOT_VALID_AFTER',
    'SWITCH_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
    'SWITCH_UNABLE_TO_GET_JWK_SIGNATURE',
    'SWITCH_APP_ID_NOT_CONFIGURED',
    'SWITCH_APP_ID_NOT_VALID',
  ],
  oculus: ['OCULUS_RIFT_NO_SECRET_TICKET', 'META_QUEST_NO_SECRET_TICKET', 'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA'],
  psn: [
    'PSN_INVALID_TOKEN',
    'PSN_INVALID_TOKEN_NOT_VALID_BEFORE',
    'PSN_INVALID_TOKEN_NOT_VALID_AFTER',
    'PSN_UNABLE_TO_GET_JWK_SIGNATURE',
    'PSN_UNABLE_TO_GET_ACCOUNT_DATA',
    'PSN_CHILD_PROFILE_NOT_PERMITTED',
    'PSN_UGC_INTERACTION_NOT_PERMITTED',
  ],
  sso: [
    'OPENID_GAME_NOT_SUPPORTED',
    'OPENID_CONFIG_NOT_ACTIVE',
    'OPENID_CONFIG_JWK_URL_UNREACHABLE',
    'OPENID_CONFIG_SIGNATURE_FAILURE',
    'OPENID_CANNOT_REACH_IDENTITY_PROVIDER',
    'OPENID_BAD_AUDIENCE',
    'OPENID_INVALID_TOKEN_NOT_VALID_BEFORE',
    'OPENID_INVALID_TOKEN_NOT_VALID_AFTER',
    'OPENID_INVALID_TOKEN',
  ],
  steam: ['STEAM_APP_TICKET_INVALID', 'STEAM_NO_SECRET_TICKET', 'STEAM_UNABLE_TO_GET_ACCOUNT_DATA'],
  xboxlive: [
    'XBOX_LIVE_INVALID_TOKEN',
    'XBOX_LIVE_UGC_INTERACTION_NOT_PERMITTED',
    'XBOX_LIVE_TOKEN_EXPIRED',
    'XBOX_LIVE_CHILD_PROFILE_NOT_PERMITTED',
    'XBOX_LIVE_UNABLE_TO_GET_JWK_SIGNATURE',
  ],
} as const satisfies Record<LinkedPortal, readonly ErrorName[]>;

interface PortalOperation<B extends z.ZodRawShape> {
  readonly id: string;
  readonly path: string;
  readonly portal: LinkedPortal;
  readonly says: string;
  readonly fields: B;
  /** Selects the fields that are sent to the portal. */
  readonly credentials: (body: Record<string, unknown>) => Credentials;
  readonly besides?: (body: Record<string, unknown>) => Credentials | undefined;
  readonly errors?: readonly ErrorName[];
}

const named =
  (...names: (keyof Credentials)[]) =>
  (body: Record<string, unknown>): Credentials =>
    Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, String(body[name])]));

function portalOperation<B extends z.ZodRawShape>(each: PortalOperation<B>) {
  const { id, path, portal, says, fields } = each;
  return operation({
    id,
    tag: 'Authentication',
    method: 'POST',
    path,
    says,
    access: authentication(),
    unlocked: 'the account is locked once it is known',
    limit: 30,
    body: z.object(fields),
    returns: ok(AccessTokenObject),
    errors: [...REFUSALS, ...OF_PORTALS[portal], ...(each.errors ?? [])],
    handle: async (app: App, input: Input<unknown, unknown, unknown, KeyCaller>) => {
      const body = input.body as z.output<z.ZodObject<typeof WithEmail>> & Record<string, unknown>;
      const second = each.besides?.(body);
      const token = await signIn(app, input.caller, {
        portal,
        credentials: each.credentials(body),
        besides: second && { portal: 'psn', credentials: second },
        termsAgreed: body.terms_agreed,
        email: body.email,
        monetizationAccount: body['monetization_account'] === true,
        dateExpires: body.date_expires,
        ip: input.ip,
        language: input.language,
      });
      return { code: 200, ...token };
    },
  });
}

export const authenticateViaSteam = portalOperation({
  id: 'authenticate-via-steam',
  path: '/external/steamauth',
  portal: 'steam',
  says: 'Signs in with an encrypted app ticket of Steam.',
  fields: { appdata: Token.meta({ description: 'The ticket, in base64.' }), ...WithEmail },
  credentials: named('appdata'),
});

export const authenticateViaGogGalaxy = portalOperation({
  id: 'authenticate-via-gog-galaxy',
  path: '/external/galaxyauth',
  portal: 'gog',
  says: 'Signs in with an encrypted app ticket of GOG Galaxy.',
  fields: { appdata: Token.meta({ description: 'The ticket, in base64.' }), ...WithEmail },
  credentials: named('appdata'),
});

export const authenticateViaXboxLive = portalOperation({
  id: 'authenticate-via-xbox-live',
  path: '/external/xboxauth',
  portal: 'xboxlive',
  says: 'Signs in with an XSTS token of Xbox.',
  fields: { xbox_token: Token.meta({ description: '`XBL3.0 x=…;…`, or the token alone.' }), ...WithEmail },
  credentials: named('xbox_token'),
});

const Psn = {
  auth_code: Token,
  env: z.int().min(0).default(256).meta({ description: '256 for players; other values for development.' }),
  ...WithEmail,
};

export const authenticateViaPsn = portalOperation({
  id: 'authenticate-via-psn',
  path: '/external/psnauth',
  portal: 'psn',
  says: 'Signs in with an authorization code of PlayStation Network.',
  fields: Psn,
  credentials: named('auth_code', 'env'),
});

export const authenticateViaPsnSdk = portalOperation({
  id: 'authenticate-via-psn-sdk',
  path: '/authentication/ps',
  portal: 'psn',
  says: 'The same as `POST /external/psnauth`, at the path that SDKs use.',
  fields: Psn,
  credentials: named('auth_code', 'env'),
});

export const authenticateViaSwitch = portalOperation({
  id: 'authenticate-via-switch',
  path: '/external/switchauth',
  portal: 'nintendo',
  says: 'Signs in with the ID token of a Nintendo Switch.',
  fields: { id_token: Token, ...WithEmail },
  credentials: named('id_token'),
});

export const authenticateViaEpicgames = portalOperation({
  id: 'authenticate-via-epicgames',
  path: '/external/epicgamesauth',
  portal: 'epicgames',
  says: 'Signs in with an ID token or an access token of Epic Games. One of them is required.',
  fields: { id_token: Token.optional(), access_token: Token.optional(), ...WithEmail },
  credentials: named('id_token', 'access_token'),
});

export const authenticateViaGoogle = portalOperation({
  id: 'authenticate-via-google',
  path: '/external/googleauth',
  portal: 'google',
  says: 'Signs in with an authorization code or an ID token of Google. One of them is required.',
  fields: { auth_code: Token.optional(), id_token: Token.optional(), ...Consent },
  credentials: named('auth_code', 'id_token'),
});

export const authenticateViaApple = portalOperation({
  id: 'authenticate-via-apple',
  path: '/external/appleauth',
  portal: 'apple',
  says: 'Signs in with an identity token of Apple.',
  fields: { id_token: Token, ...Consent },
  credentials: named('id_token'),
});

export const authenticateViaDiscord = portalOperation({
  id: 'authenticate-via-discord',
  path: '/external/discordauth',
  portal: 'discord',
  says: 'Signs in with an access token of Discord.',
  fields: { discord_token: Token, ...WithEmail },
  credentials: named('discord_token'),
});

export const authenticateViaOculus = portalOperation({
  id: 'authenticate-via-oculus',
  path: '/external/oculusauth',
  portal: 'oculus',
  says: 'Signs in with a nonce of a Meta Quest or an Oculus Rift.',
  fields: {
    device: z.enum(['quest', 'rift']),
    nonce: Token,
    user_id: z.string().regex(/^\d{1,20}$/),
    access_token: Token,
    ...WithEmail,
  },
  credentials: named('device', 'nonce', 'user_id', 'access_token'),
});

export const authenticateViaFacebook = portalOperation({
  id: 'authenticate-via-facebook',
  path: '/external/facebookauth',
  portal: 'facebook',
  says: 'Signs in with an access token of Facebook.',
  fields: { facebook_token: Token, ...WithEmail },
  credentials: named('facebook_token'),
});

export const authenticateViaItchio = portalOperation({
  id: 'authenticate-via-itchio',
  path: '/external/itchioauth',
  portal: 'itchio',
  says: 'Signs in with the token that the itch.io app passes to the game.',
  fields: { itchio_token: Token, ...WithEmail },
  credentials: named('itchio_token'),
});

export const authenticateViaOpenid = portalOperation({
  id: 'authenticate-via-openid',
  path: '/external/openidauth',
  portal: 'sso',
  says: 'Signs in with an ID token of the studio’s own accounts.',
  fields: {
    id_token: Token,
    psn_token: Token.optional().meta({ description: 'An authorization code of a PlayStation account to link.' }),
    psn_env: z.int().min(0).default(256),
    monetization_account: z.boolean().default(false).meta({
      description: 'Whether the studio requests that the user can buy and sell; stored with the linked account.',
    }),
    ...WithEmail,
  },
  credentials: named('id_token'),
  besides: ({ psn_token, psn_env }) =>
    psn_token === undefined ? undefined : { auth_code: String(psn_token), env: String(psn_env) },
  errors: OF_PORTALS.psn,
});

export const authenticateViaUdt = operation({
  id: 'authenticate-via-udt',
  tag: 'Authentication',
  method: 'POST',
  path: '/external/udtauth',
  says: 'Signs in the user of the delegation token in `X-Service-Delegation-Token`.',
  access: authentication(),
  unlocked: 'the account is locked once it is known',
  limit: 30,
  body: z.object(Consent),
  emptyBody: true,
  returns: ok(AccessTokenObject),
  errors: [
    'ACTION_RESTRICTED_GAME_API_KEY',
    'GAME_NOT_FOUND',
    'SERVICE_INVALID_TOKEN',
    'SERVICE_UNABLE_TO_GET_JWK_SIGNATURE',
    'SERVICE_INVALID_TOKEN_NOT_VALID_BEFORE',
    'SERVICE_INVALID_TOKEN_NOT_VALID_AFTER',
    'OAUTH_UNEXPECTED_GAME_REFERENCE',
    'NO_TERMS_AGREEMENT',
    'USER_DELETED',
    'USER_BANNED',
    'USER_LOCKED',
  ],
  handle: async (app, { caller, delegationToken: token, body }) => ({
    code: 200,
    ...(await signInByDelegation(app, caller, {
      token,
      termsAgreed: body.terms_agreed,
      dateExpires: body.date_expires,
    })),
  }),
});

export const meRegister = operation({
  id: 'me-register',
  tag: 'Me',
  method: 'POST',
  path: '/me/register',
  says: 'Mails a code to an email address that a user from a portal wants to add.',
  access: user('write', 'profile'),
  limit: 10,
  body: z.object({ email: Email }),
  returns: ok(MessageObject),
  errors: [
    'USER_ALREADY_VERIFIED',
    'AUTH_LINK_EMAIL_ALREADY_USED',
    'EMAIL_REQUEST_ERROR_SENDING_CODE',
    'USER_NOT_FOUND',
  ],
  handle: async (app, { caller, body, language }) => {
    await register(app, caller, body.email, language);
    return { code: 200, message: localise('email_code_sent', language) };
  },
});

export const meAuthenticate = operation({
  id: 'me-authenticate',
  tag: 'Me',
  method: 'POST',
  path: '/me/authenticate',
  says: 'Confirms an email address with the mailed code.',
  access: user('write', 'profile'),
  ends: ['caller'],
  limit: 10,
  body: z.object({ security_code: z.string().trim().min(1).max(10) }),
  returns: ok(UserStatusObject),
  errors: [
    'USER_ALREADY_VERIFIED',
    'AUTH_LINK_EMAIL_ALREADY_USED',
    'EMAIL_EXCHANGE_INVALID_CODE',
    'EMAIL_EXCHANGE_CODE_EXPIRED',
    'USER_NOT_FOUND',
  ],
  handle: async (app, { caller, body, portal }) =>
    toUserStatusObject(app, await confirm(app, caller, body.security_code), portal),
});

export const getConnections = operation({
  id: 'get-connections',
  tag: 'Me',
  method: 'GET',
  path: '/me/connections',
  says: 'Lists the linked portal accounts of the user.',
  access: user('read', 'profile'),
  list: pagesOnly,
  returns: ok(pageOf(ConnectionObject)),
  errors: [],
  handle: async (app, { caller, list }) => pageOfAll((await connectionsOf(app, caller)).map(toConnection), list),
});

const PortalPath = z.object({ portal: z.enum(LINKED_PORTALS) });

export const addConnection = operation({
  id: 'add-connection',
  tag: 'Me',
  method: 'POST',
  path: '/me/connections/{portal}',
  says: 'Links an account on a portal, with the same credentials as the portal’s sign-in. Only the fields of that portal are sent.',
  access: user('write', 'profile'),
  limit: 30,
  params: PortalPath,
  body: z.object({
    game_id: Id.optional().meta({ description: 'Required if the token belongs to no game.' }),
    access_token: Token.optional(),
    appdata: Token.optional(),
    auth_code: Token.optional(),
    device: z.enum(['quest', 'rift']).optional(),
    discord_token: Token.optional(),
    env: z.int().min(0).optional(),
    facebook_token: Token.optional(),
    id_token: Token.optional(),
    itchio_token: Token.optional(),
    nonce: Token.optional(),
    user_id: z
      .string()
      .regex(/^\d{1,20}$/)
      .optional(),
    xbox_token: Token.optional(),
  }),
  returns: created(ConnectionObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GAME_NO_VIEW_PERMISSION',
    'USER_NOT_FOUND',
    'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
    'LINK_WRONG_SERVICE_ID',
    'USER_CONNECTION_EXISTS',
    'USER_DUPLICATE_ACCOUNTS',
    ...Object.values(OF_PORTALS).flat(),
  ],
  handle: async (app, { caller, params, body, ip }) => {
    const { game_id: gameId, ...fields } = body;
    const credentials = named(...(Object.keys(fields) as (keyof Credentials)[]))(fields);
    const connection = await link(app, caller, { portal: params.portal, credentials, gameId, ip });
    return new Created(toConnection(connection), `${app.addresses.api}/me/connections`);
  },
});

export const deleteConnection = operation({
  id: 'delete-connection',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/connections/{portal}',
  says: 'Unlinks a portal. The last way to sign in cannot be unlinked: a user without an email address adds one first.',
  access: user('write', 'profile'),
  params: PortalPath,
  returns: noContent,
  errors: ['USER_CONNECTION_NOT_FOUND', 'USER_CANNOT_DELETE_CONNECTION', 'USER_NOT_FOUND'],
  handle: (app, { caller, params }) => unlink(app, caller, params.portal),
});

export const disconnectUser = operation({
  id: 's-2-s-disconnect-user',
  tag: 'S2S',
  method: 'DELETE',
  path: '/s2s/connections/{portal_id}',
  says: 'Unlinks a portal for the user of the delegation token in `X-Service-Delegation-Token`.',
  access: service('write'),
  unlocked: 'it removes a linked account and adds nothing',
  params: z.object({ portal_id: z.enum(LINKED_PORTALS) }),
  returns: noContent,
  errors: [
    'USER_TOKEN_ISSUE_MISMATCH',
    'USER_NOT_FOUND',
    'USER_CONNECTION_MEMBER_NOT_FOUND',
    'USER_CANNOT_DELETE_CONNECTION',
  ],
  handle: (app, { caller, params, delegationToken }) => disconnect(app, caller, params.portal_id, delegationToken),
});

const ADMINISTRATION = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;
const GamePortalPath = GamePath.extend(PortalPath.shape);

const redirectOf = (app: App, { portal }: { portal: string }, { game_id }: { game_id: number }): string =>
  callbackOf(app, portal as LinkedPortal, game_id);

export const getGamePortals = operation({
  id: 'get-game-portals',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/portals',
  says: 'Lists the portals that players of a game can sign in with, and their settings. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(GamePortalObject)),
  errors: ADMINISTRATION,
  handle: async (app, { caller, params, list }) =>
    pageOfAll(
      (await listSettings(app, caller, params.game_id)).map((each) =>
        toGamePortal(each, redirectOf(app, each, params)),
      ),
      list,
    ),
});

export const editGamePortal = operation({
  id: 'edit-game-portal',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}/portals/{portal}',
  says: 'Changes the sent settings of a portal for a game. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePortalPath,
  body: PortalSettingsBody,
  returns: ok(GamePortalObject),
  errors: ADMINISTRATION,
  handle: async (app, { caller, params, body }) =>
    toGamePortal(
      await changeSettings(app, caller, params.game_id, params.portal, body),
      redirectOf(app, params, params),
    ),
});

export const deleteGamePortal = operation({
  id: 'delete-game-portal',
  tag: 'Games',
  method: 'DELETE',
  path: '/games/{game_id}/portals/{portal}',
  says: 'Removes a portal and its secrets from a game. Players keep their accounts. Administrators of the game only.',
  access: user('write', 'team'),
  params: GamePortalPath,
  returns: noContent,
  errors: ADMINISTRATION,
  handle: (app, { caller, params }) => removeSettings(app, caller, params.game_id, params.portal),
});

const PortalTestObject = z
  .object({
    portal: z.enum(LINKED_PORTALS),
    steps: z.array(
      z.object({
        step: z.enum(['settings', 'keys', 'page', 'secret']).meta({
          description:
            '`keys`: the keys of its tokens can be loaded. `settings`: sign-in on the web is set up. `page`: the portal shows its page. `secret`: it knows the client and its secret.',
        }),
        ok: z.boolean(),
        detail: z.string().meta({ description: 'What was found, in the language of the request; may be empty.' }),
        original: z.string().meta({ description: 'What the portal said, in its own words; may be empty.' }),
      }),
    ),
  })
  .meta({ id: 'PortalTest' });

const toPortalStep = ({ step, ok, detail, original = '' }: ProbeStep, language: Language) => ({
  step,
  ok,
  detail: detail ? localiseLater(detail, language) : '',
  original,
});

export const testGamePortal = operation({
  id: 'test-game-portal',
  tag: 'Games',
  method: 'POST',
  path: '/games/{game_id}/portals/{portal}/test',
  says: 'Tries each part of a portal’s sign-in that needs no user, with the stored settings. Administrators of the game only.',
  access: user('write', 'team'),
  limit: 10,
  unlocked: 'it asks the portal and writes nothing',
  params: GamePortalPath,
  returns: ok(PortalTestObject),
  errors: [...ADMINISTRATION, 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params: { game_id: gameId, portal }, language }) => {
    const steps = await testPortal(app, caller, gameId, portal);
    return { portal, steps: steps.map((step) => toPortalStep(step, language)) };
  },
});

export const portalOperations = [
  authenticateViaSteam,
  authenticateViaGogGalaxy,
  authenticateViaXboxLive,
  authenticateViaPsn,
  authenticateViaPsnSdk,
  authenticateViaSwitch,
  authenticateViaEpicgames,
  authenticateViaGoogle,
  authenticateViaApple,
  authenticateViaDiscord,
  authenticateViaOculus,
  authenticateViaFacebook,
  authenticateViaItchio,
  authenticateViaOpenid,
  authenticateViaUdt,
  meRegister,
  meAuthenticate,
  getConnections,
  addConnection,
  deleteConnection,
  disconnectUser,
  getGamePortals,
  editGamePortal,
  deleteGamePortal,
  testGamePortal,
];
