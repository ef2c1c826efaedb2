import { refuseGone } from '../../access/authenticate.ts';
import type { App } from '../../context.ts';
import { ApiError, type ErrorName } from '../../errors/catalogue.ts';
import { errorMessage } from '../../errors/messages.ts';
import { GAME_DELETED } from '../games/games.ts';
import { requireUserIn } from '../users/users.ts';
import { type Client, findClient } from './clients.ts';
import * as store from './store.ts';

const CODE_SECONDS = 300;
/** What people may allow a client. */
const SCOPES = ['read', 'write'] as const;
/** A SHA-256 in base64url (RFC 7636, section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** The parameters of an authorization request, as far as each was sent once and as text. */
export type Asked = Readonly<Record<string, string | undefined>>;

/** What a client asks a person to allow. */
export interface Asking {
  readonly kind: 'asking';
  readonly client: Client;
  readonly game: { readonly name: string; readonly icon: string | null };
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | undefined;
  readonly challenge: string | null;
}

/** A refusal that the client is told about at its own address. */
export interface Returned {
  readonly kind: 'returned';
  readonly location: string;
}

/**
 * Reads an authorization request. Nobody is sent to an address that its client has not registered to the letter, so
 * a wrong client or address throws (RFC 6749, section 4.1.2.1); all else is told to the client.
 */
export async function reviewAuthorization(app: App, asked: Asked): Promise<Asking | Returned> {
  const client = await requireKnownClient(app, asked['client_id']);
  const game = await store.gameShown(app.db.query, client.gameId);
  if (!game || game.status === GAME_DELETED) throw new ApiError('OAUTH_INVALID_CLIENT', { status: 400 });
  const redirectUri = asked['redirect_uri'];
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri))
    throw new ApiError('OAUTH_REDIRECT_URI_MISMATCH');
  const state = asked['state'];
  const refusal = refusalOf(client, asked);
  if (refusal) return { kind: 'returned', location: refusedAt(app, { redirectUri, state }, refusal) };
  const words = asked['scope']!.split(' ').filter(Boolean);
  return {
    kind: 'asking',
    client,
    game,
    redirectUri,
    scopes: SCOPES.filter((scope) => words.includes(scope)),
    state,
    challenge: asked['code_challenge'] ?? null,
  };
}

async function requireKnownClient(app: App, id: string | undefined): Promise<Client> {
  const client = /^\d{1,15}$/.test(id ?? '') ? await findClient(app.db.query, Number(id)) : undefined;
  if (!client) throw new ApiError('OAUTH_INVALID_CLIENT', { status: 400 });
  return client;
}

function refusalOf(client: Client, asked: Asked): ErrorName | undefined {
  const { grant_type, response_type, scope, code_challenge: challenge, code_challenge_method: method } = asked;
  if (!grant_type || !response_type || !scope) return 'OAUTH_INVALID_REQUEST';
  if (grant_type !== 'authorization_code') return 'OAUTH_UNSUPPORTED_GRANT_TYPE';
  if (response_type !== 'code') return 'OAUTH_UNSUPPORTED_RESPONSE_TYPE';
  if (!client.grants.includes('authorization_code')) return 'OAUTH_UNAUTHORIZED_CLIENT';
  const words = scope.split(' ').filter(Boolean);
  if (words.length === 0 || !words.every((word) => (SCOPES as readonly string[]).includes(word)))
    return 'OAUTH_INVALID_SCOPE';
  // Left out, the method would be "plain" (RFC 7636, section 4.3), which protects nobody who can read the request.
  if (challenge === undefined) return client.requiresPkce || method !== undefined ? 'OAUTH_INVALID_REQUEST' : undefined;
  return method === 'S256' && CHALLENGE.test(challenge) ? undefined : 'OAUTH_INVALID_REQUEST';
}

type Return = Pick<Asking, 'redirectUri' | 'state'>;

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
};

/** The description is in English, as it may hold ASCII alone (RFC 6749, section 4.1.2.1). */
const refusedAt = (app: App, to: Return, error: ErrorName): string =>
  returnAddress(app, to, { error: RFC_NAMES[error]!, error_description: errorMessage(error, 'en') });

/** Where the browser goes, with the answer in the query; `iss` tells whose answer it is (RFC 9207). */
function returnAddress(app: App, { redirectUri, state }: Return, answer: Record<string, string>): string {
  const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: app.addresses.site });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

export const denyAuthorization = (app: App, asking: Asking): string => refusedAt(app, asking, 'OAUTH_ACCESS_DENIED');

/** Who lets a client in: the session in which they were asked. */
type Consenting = Readonly<{ user_id: number; epoch: number }>;

/** How far they let it: the game that it belongs to, or all of them. */
export interface Reach {
  readonly allGames: boolean;
}

/** The person lets the client in; it gets a code that is good once. */
export async function allowAuthorization(
  app: App,
  { user_id, epoch }: Consenting,
  asking: Asking,
  { allGames }: Reach,
): Promise<string> {
  const code = app.random.token();
  await app.db.write(async (transaction) => {
    refuseGone((await requireUserIn(transaction, user_id)).status);
    await store.addCode(transaction.query, {
      digest: app.secrets.digest(code),
      client_id: asking.client.id,
      user_id,
      scopes: asking.scopes.join(' '),
      redirect_uri: asking.redirectUri,
      challenge: asking.challenge,
      date_expires: app.clock.now() + CODE_SECONDS,
      date_redeemed: null,
      grant_id: null,
      epoch,
      all_games: allGames ? 1 : 0,
    });
  });
  return returnAddress(app, asking, { code });
}
