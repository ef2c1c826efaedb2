import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, type PlatformAnswer } from '../asking.ts';
import { type Identity, textOf } from '../identity.ts';
import { itchioIdentityOf } from '../platforms/itchio.ts';
import { hasSaid, USUAL } from './code-flow.ts';
import type { Arriving, WebFlow } from './flow.ts';

const API = 'https://api.itch.io';
/** Who someone is; and a question that itch.io answers to applications of the game's own developer alone. */
const SCOPES = ['profile:me', 'game:view:ownership'];

/** itch.io documents the implicit grant alone (RFC 6749, section 4.2): the token comes through the browser. */
export const itchioFlow: WebFlow = {
  answersInFragment: true,
  takesTrust: true,
  isSetUp: hasSaid(['client_id', 'itch_game_id']),
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
  refusals: USUAL,
};

async function arrive(arriving: Arriving): Promise<Identity> {
  const { access_token: token, error } = arriving.query;
  if (!token || error !== undefined) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  await requireOwnToken(arriving, token);
  return itchioIdentityOf(await ask(arriving, token, '/profile'));
}

const ask = ({ app }: Arriving, token: string, path: string): Promise<PlatformAnswer> =>
  askPlatform(
    app,
    addressOf(app, 'itchio', API + path),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } },
    'ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA',
  );

/**
 * A token that somebody else's application got must not let its owner in here, whoever brings it. No answer of itch.io
 * names the application; but who owns a game is told only to applications of that game's developer, and keys that
 * people make for themselves have other scopes.
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
