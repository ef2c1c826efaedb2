import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { onceUntil } from '../platforms/claims.ts';
import { NINTENDO_REFUSALS } from '../platforms/nintendo.ts';
import { codeFlow, type TokenAnswer, USUAL } from './code-flow.ts';

const ISSUER = 'https://accounts.nintendo.com';
const ME = 'https://api.accounts.nintendo.com/2.0.0/users/me';

/**
 * Nintendo Accounts. Their ids are others than those of the consoles' service accounts, and look the same: so they are
 * marked, and have a place of their own in the game, beside which a person can have the console's.
 */
export const nintendoFlow = codeFlow({
  portal: 'nintendo',
  needs: ['client_id', 'client_secret'],
  isPerGame: true,
  authorizeUrl: (settings) => textOf(settings, 'authorize_url') ?? `${ISSUER}/connect/1.0.0/authorize`,
  tokenUrl: (settings) => textOf(settings, 'web_token_url') ?? `${ISSUER}/connect/1.0.0/api/token`,
  scope: () => 'openid user',
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  authentication: () => 'basic',
  issuer: (settings) => textOf(settings, 'web_issuer') ?? ISSUER,
  identify: whoIs,
  refusals: { ...USUAL, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS', token: 'SWITCH_INVALID_TOKEN' },
});

async function whoIs(asking: Asking, { id_token, access_token }: TokenAnswer): Promise<Identity> {
  const { app, settings } = asking;
  const token = stringOf(id_token);
  const issuer = textOf(settings, 'web_issuer') ?? ISSUER;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'nintendo', textOf(settings, 'web_keys_url') ?? `${issuer}/1.0.0/certificates`),
    algorithms: ['RS256'],
    issuers: [issuer],
    audiences: [textOf(settings, 'client_id')!],
    claimsRequired: ['sub'],
    refusals: NINTENDO_REFUSALS,
  });
  const id = stringOf(claims.sub);
  // Access tokens are signed by the same keys, for the same client.
  if (!id || (claims['typ'] ?? 'id_token') !== 'id_token') throw new ApiError('SWITCH_INVALID_TOKEN');
  const displayName = await nicknameOf(asking, id, stringOf(access_token));
  return {
    portal: 'nintendo',
    id: `account/${id}`,
    displayName,
    avatar: '',
    perGame: true,
    ticket: onceUntil(token, claims),
  };
}

/** The ID token tells no name. Without one the person gets in all the same. */
async function nicknameOf({ app }: Asking, id: string, token: string): Promise<string> {
  if (!token) return '';
  const { ok, body } = await askPlatform(
    app,
    addressOf(app, 'nintendo', ME),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } },
    'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  );
  return ok && body['id'] === id ? stringOf(body['nickname']) : '';
}
