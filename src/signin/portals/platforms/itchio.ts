import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, textOf, type Verification } from '../identity.ts';
import { addressOf, idTextOf, objectOf, type PlatformAnswer, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { DEFAULT_ERRORS, isConfigured } from '../web/code-flow.ts';
import type { Arriving, WebFlow } from '../web/flow.ts';

/** itch.io: the token that its app passes to a game that it starts, valid for that game. */
async function verifyItchio({ app, settings, credentials }: Verification): Promise<Identity> {
  const gameId = textOf(settings, 'itch_game_id');
  if (!gameId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { itchio_token: token = '' } = credentials;
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'itchio', 'https://itch.io/api/1/jwt/me'),
    { headers: { authorization: `Bearer ${token}` } },
    'ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  const issuedFor = idTextOf(objectOf(objectOf(body['api_key'])['issuer'])['game_id']);
  if (!ok || 'errors' in body || issuedFor !== gameId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  return itchioIdentityOf({ ok, body });
}

/** The user of a token, for every kind of token. */
function itchioIdentityOf({ ok, body }: PlatformAnswer): Identity {
  const user = objectOf(body['user']);
  const id = idTextOf(user['id']);
  if (!ok || !id) throw new ApiError('ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA');
  const displayName = stringOf(user['display_name']) || stringOf(user['username']);
  return { portal: 'itchio', id, displayName, avatar: stringOf(user['cover_url']) };
}

const API = 'https://api.itch.io';
/** The profile, and a query that itch.io answers only to applications of the game’s developer. */
const SCOPES = ['profile:me', 'game:view:ownership'];

/** itch.io documents only the implicit grant (RFC 6749, section 4.2): the browser receives the token. */
const itchioFlow: WebFlow = {
  answersInFragment: true,
  requiresAcceptedGame: true,
  isSetUp: isConfigured(['client_id', 'itch_game_id']),
  leave: ({ settings, state, callback }) => {
    const address = new URL('https://itch.io/user/oauth');
    const parameters = {
      client_id: textOf(settings, 'client_id')!,
      scope: SCOPES.join(' '),
      response_type: 'token',
      redirect_uri: callback,
      state,
    };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    return address.href;
  },
  arrive,
  refusals: DEFAULT_ERRORS,
};

async function arrive(arriving: Arriving): Promise<Identity> {
  const { access_token: token, error } = arriving.query;
  if (!token || error !== undefined) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  await requireOwnToken(arriving, token);
  return itchioIdentityOf(await ask(arriving, token, '/profile'));
}

const ask = ({ app }: Arriving, token: string, path: string): Promise<PlatformAnswer> =>
  requestPlatform(
    app,
    addressOf(app, 'itchio', API + path),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } },
    'ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA',
  );

/**
 * A token that another application obtained must not sign its owner in here. No answer of itch.io names the
 * application, but only applications of the game’s developer can read who owns the game, and keys that users create for
 * themselves have other scopes.
 */
async function requireOwnToken(arriving: Arriving, token: string): Promise<void> {
  const credentials = await ask(arriving, token, '/credentials/info');
  const { type, scopes } = credentials.body;
  const isAsAsked =
    type === 'key' &&
    Array.isArray(scopes) &&
    scopes.length === SCOPES.length &&
    SCOPES.every((scope) => scopes.includes(scope));
  if (!isGood(credentials) || !isAsAsked) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const gameId = textOf(arriving.settings, 'itch_game_id')!;
  const ownership = await ask(arriving, token, `/games/${gameId}/ownership`);
  if (!isGood(ownership) || typeof ownership.body['owns'] !== 'boolean')
    throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
}

const isGood = ({ ok, body }: PlatformAnswer): boolean => ok && !('errors' in body);

export const itchio: PortalDescription = {
  token: { verify: verifyItchio, needs: ['itchio_token'] },
  web: itchioFlow,
};
