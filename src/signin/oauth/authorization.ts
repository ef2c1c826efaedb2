import { GAME_ACCEPTED, GAME_DELETED } from '../../catalogue/games/games.ts';
import { admitUser } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName, type ValidationRule } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type Client, findClient } from './clients.ts';
import { oauthDescription } from './descriptions.ts';
import { isRedirectUri } from './redirects.ts';
import * as store from './store.ts';

const CODE_SECONDS = 300;
/** The scopes that users can grant to a client. */
const SCOPES = ['read', 'write'] as const;
/** A SHA-256 in base64url (RFC 7636, section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** An authorization request: its parameters, and the names of the repeated ones. */
export interface AuthorizationRequest {
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly repeated: readonly string[];
  readonly language: Language;
}

/** The game of the requesting application, as the consent page shows it. */
interface ConsentGame {
  readonly name: string;
  readonly icon: string | null;
  readonly owner: string | null;
  /** Whether the site's staff have accepted it. */
  readonly isAccepted: boolean;
}

/** The validated request that the consent page shows. */
export interface ConsentRequest {
  readonly kind: 'consent';
  readonly client: Client;
  readonly game: ConsentGame;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | undefined;
  readonly challenge: string | null;
}

/** An error that is returned to the client’s redirect URI. */
export interface ReturnedError {
  readonly kind: 'returned';
  readonly error: ApiError;
  readonly client: Client;
  readonly game: ConsentGame;
  readonly location: string;
  /** Whether the browser is redirected automatically; otherwise the user has to click a link. */
  readonly isAutomatic: boolean;
}

/**
 * Validates an authorization request. An unknown client or an unregistered redirect URI throws, because the browser
 * must not be redirected there (RFC 6749, section 4.1.2.1); other errors are returned to the client.
 */
export async function reviewAuthorization(
  app: App,
  request: AuthorizationRequest,
): Promise<ConsentRequest | ReturnedError> {
  const { parameters } = request;
  const client = await requireKnownClient(app, parameters['client_id']);
  const shown = await store.gameShown(app.db.query, client.gameId);
  if (!shown || shown.status === GAME_DELETED) throw new ApiError('OAUTH_INVALID_CLIENT');
  const game = { name: shown.name, icon: shown.icon, owner: shown.owner, isAccepted: shown.status === GAME_ACCEPTED };
  const redirectUri = parameters['redirect_uri'];
  // A registered address can predate today’s rules.
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri) || !isRedirectUri(redirectUri))
    throw new ApiError('OAUTH_REDIRECT_URI_MISMATCH');
  const state = parameters['state'];
  const refusal = refusalOf(client, request);
  if (refusal) {
    const location = refusalAddress(app, { redirectUri, state }, refusal.error, request.language);
    return {
      kind: 'returned',
      ...refusal,
      client,
      game,
      location,
      isAutomatic: game.isAccepted && refusal.isSpecified,
    };
  }
  const words = parameters['scope']!.split(' ').filter(Boolean);
  return {
    kind: 'consent',
    client,
    game,
    redirectUri,
    scopes: SCOPES.filter((scope) => words.includes(scope)),
    state,
    challenge: parameters['code_challenge'] ?? null,
  };
}

async function requireKnownClient(app: App, id: string | undefined): Promise<Client> {
  const client = /^\d{1,15}$/.test(id ?? '') ? await findClient(app.db.query, Number(id)) : undefined;
  if (!client) throw new ApiError('OAUTH_INVALID_CLIENT');
  return client;
}

interface RefusedRequest {
  readonly error: ApiError;
  /** Whether the specification returns this error to the client through the browser. */
  readonly isSpecified: boolean;
}

const specified = (error: ErrorName, field: string, rule: ValidationRule = 'invalid'): RefusedRequest => ({
  error: new ApiError(error, { fields: [{ field, rule }] }),
  isSpecified: true,
});

/**
 * No real application sends such a request, and a link that does would use the service as an open redirector (RFC 9700,
 * 4.11.2).
 */
const malformed = (error: ErrorName, field: string, rule: ValidationRule = 'invalid'): RefusedRequest => ({
  ...specified(error, field, rule),
  isSpecified: false,
});

function refusalOf(client: Client, { parameters, repeated }: AuthorizationRequest): RefusedRequest | undefined {
  // A proxy in front of the service could read another of the repeated values.
  if (repeated.length > 0) return malformed('OAUTH_INVALID_REQUEST', repeated[0]!, 'repeated');
  const { grant_type, response_type, scope } = parameters;
  // A standard client may omit it. An empty parameter counts as omitted (RFC 6749, section 3.1).
  const required = { ...(!client.standard && { grant_type }), response_type, scope };
  const missing = Object.entries(required).find(([, value]) => !value);
  if (missing) return specified('OAUTH_INVALID_REQUEST', missing[0], 'required');
  if (grant_type && grant_type !== 'authorization_code') return specified('OAUTH_UNSUPPORTED_GRANT_TYPE', 'grant_type');
  if (response_type !== 'code') return malformed('OAUTH_UNSUPPORTED_RESPONSE_TYPE', 'response_type');
  if (!client.grants.includes('authorization_code')) return specified('OAUTH_UNAUTHORIZED_CLIENT', 'client_id');
  const words = scope!.split(' ').filter(Boolean);
  if (words.length === 0 || !words.every((word) => (SCOPES as readonly string[]).includes(word)))
    return specified('OAUTH_INVALID_SCOPE', 'scope');
  return refusedChallenge(client, parameters);
}

function refusedChallenge(client: Client, parameters: AuthorizationRequest['parameters']): RefusedRequest | undefined {
  const { code_challenge: challenge, code_challenge_method: method } = parameters;
  if (challenge === undefined && method === undefined)
    return client.requiresPkce ? specified('OAUTH_INVALID_REQUEST', 'code_challenge', 'required') : undefined;
  if (challenge === undefined) return malformed('OAUTH_INVALID_REQUEST', 'code_challenge', 'required');
  // Without a method the challenge would be "plain" (RFC 7636, section 4.3), which does not protect against a reader of
  // the request.
  if (method !== 'S256') return malformed('OAUTH_INVALID_REQUEST', 'code_challenge_method');
  return CHALLENGE.test(challenge) ? undefined : malformed('OAUTH_INVALID_REQUEST', 'code_challenge');
}

type Return = Pick<ConsentRequest, 'redirectUri' | 'state'>;

export const RFC_NAMES: Partial<Record<ErrorName, string>> = {
  OAUTH_INVALID_REQUEST: 'invalid_request',
  OAUTH_INVALID_CLIENT: 'invalid_client',
  OAUTH_INVALID_GRANT: 'invalid_grant',
  OAUTH_UNAUTHORIZED_CLIENT: 'unauthorized_client',
  OAUTH_UNSUPPORTED_GRANT_TYPE: 'unsupported_grant_type',
  OAUTH_UNSUPPORTED_RESPONSE_TYPE: 'unsupported_response_type',
  OAUTH_INVALID_SCOPE: 'invalid_scope',
  OAUTH_ACCESS_DENIED: 'access_denied',
  OAUTH_SLOW_DOWN: 'slow_down',
  DEVICE_LOGIN_REQUEST_NOT_AUTHORIZED: 'authorization_pending',
  DEVICE_LOGIN_CODE_INVALID: 'expired_token',
  USER_DELETED: 'invalid_grant',
  USER_BANNED: 'invalid_grant',
  USER_LOCKED: 'invalid_grant',
};

const refusalAddress = (app: App, to: Return, error: ApiError, language: Language): string =>
  returnAddress(app, to, {
    error: RFC_NAMES[error.error]!,
    error_description: oauthDescription(error, language),
  });

/** The redirect address with the answer in its query; `iss` names the issuer (RFC 9207). */
function returnAddress(app: App, { redirectUri, state }: Return, answer: Record<string, string>): string {
  const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: app.addresses.site });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

export const denyAuthorization = (app: App, consent: ConsentRequest, language: Language): string =>
  refusalAddress(app, consent, new ApiError('OAUTH_ACCESS_DENIED'), language);

/** The user who consents, with the epoch of the session. */
type ConsentingUser = Readonly<{ user_id: number; epoch: number }>;

/** Whether the grant covers the client’s own game or all games. */
export interface GrantReach {
  readonly allGames: boolean;
}

/** Records the consent and returns a single-use code to the client. */
export async function allowAuthorization(
  app: App,
  { user_id, epoch }: ConsentingUser,
  consent: ConsentRequest,
  { allGames }: GrantReach,
): Promise<string> {
  const code = app.random.token();
  await app.db.write(async (transaction) => {
    await admitUser(transaction, user_id);
    await store.addCode(transaction.query, {
      digest: app.secrets.digest(code),
      client_id: consent.client.id,
      user_id,
      scopes: consent.scopes.join(' '),
      redirect_uri: consent.redirectUri,
      challenge: consent.challenge,
      date_expires: app.clock.now() + CODE_SECONDS,
      date_redeemed: null,
      grant_id: null,
      epoch,
      all_games: allGames ? 1 : 0,
    });
  });
  return returnAddress(app, consent, { code });
}
