import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, listOf, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, verifyLikeGame } from '../web/code-flow.ts';
import { onceUntil } from './claims.ts';

const KEYS = 'https://api.epicgames.dev/epic/oauth/v2/.well-known/jwks.json';

/**
 * Epic Account Services: an ID token or an access token for one of the game’s clients. Epic signs both with the same
 * keys and documents the same offline checks.
 */
async function verifyEpicGames({ app, settings, credentials }: Verification): Promise<Identity> {
  const clients = listOf(settings, 'client_ids');
  if (clients.length === 0) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { id_token, access_token } = credentials;
  const token = id_token ?? access_token ?? '';
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'epicgames', KEYS),
    algorithms: ['RS256', 'RS512'],
    issuers: ['https://api.epicgames.dev/epic/oauth/v1', 'https://api.epicgames.dev/epic/oauth/v2'],
    audiences: clients,
    refusals: {
      invalid: 'EPIC_GAMES_INVALID_TOKEN',
      early: 'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_AFTER',
      issuer: 'EPIC_GAMES_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
      keys: 'EPIC_GAMES_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
  const id = stringOf(claims.sub);
  // Client tokens, which belong to no user, are signed as well.
  if (!id) throw new ApiError('EPIC_GAMES_UNABLE_TO_GET_ACCOUNT_DATA');
  return {
    portal: 'epicgames',
    id,
    displayName: stringOf(claims['dn']),
    avatar: '',
    // A game sends its access token for its whole lifetime, so sending it again is no replay.
    ...(id_token !== undefined && { ticket: onceUntil(token, claims) }),
  };
}

const webFlow = codeFlow({
  portal: 'epicgames',
  needs: ['client_ids', 'client_secret'],
  authorizeUrl: () => 'https://www.epicgames.com/id/authorize',
  tokenUrl: () => 'https://api.epicgames.dev/epic/oauth/v2/token',
  scope: () => 'basic_profile openid',
  clientId: (settings) => listOf(settings, 'client_ids')[0]!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  authentication: () => 'basic',
  identify: verifyLikeGame(verifyEpicGames, 'id_token', 'id_token'),
  refusals: { ...DEFAULT_ERRORS, unreachable: 'EPIC_GAMES_UNABLE_TO_GET_ACCOUNT_DATA' },
});

export const epicgames: PortalDescription = {
  token: { verify: verifyEpicGames, needs: ['id_token'], instead: 'access_token', keysUrl: () => KEYS },
  web: webFlow,
};
