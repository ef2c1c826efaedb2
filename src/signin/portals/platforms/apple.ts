import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, listOf, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, verifyLikeGame } from '../web/code-flow.ts';
import { confirmedEmail, onceUntil } from './claims.ts';

const KEYS = 'https://appleid.apple.com/auth/keys';

/** Sign in with Apple: an identity token for one of the game’s bundles. */
async function verifyApple({ app, settings, credentials }: Verification): Promise<Identity> {
  const bundles = listOf(settings, 'bundle_ids');
  if (bundles.length === 0) throw new ApiError('APPLE_BUNDLE_ID_NOT_CONFIGURED');
  const { id_token: token = '' } = credentials;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'apple', KEYS),
    algorithms: ['RS256', 'ES256'],
    issuers: ['https://appleid.apple.com'],
    audiences: [...bundles, textOf(settings, 'services_id') ?? []].flat(),
    claimsRequired: ['sub'],
    refusals: {
      invalid: 'APPLE_INVALID_TOKEN',
      early: 'APPLE_INVALID_TOKEN',
      late: 'APPLE_INVALID_TOKEN_NOT_VALID_AFTER',
      audience: 'APPLE_BUNDLE_ID_NOT_VALID',
      keys: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
    },
  });
  const id = stringOf(claims.sub);
  if (!id) throw new ApiError('APPLE_INVALID_TOKEN');
  // Apple sends the user’s name only to the app, and only once.
  return {
    portal: 'apple',
    id,
    displayName: '',
    avatar: '',
    email: confirmedEmail(claims),
    ticket: onceUntil(token, claims),
  };
}

const APPLE = 'https://appleid.apple.com';
const APPLE_SECRET_SECONDS = 300;

const webFlow = codeFlow({
  portal: 'apple',
  needs: ['services_id', 'team_id', 'key_id', 'private_key'],
  authorizeUrl: () => `${APPLE}/auth/authorize`,
  tokenUrl: () => `${APPLE}/auth/token`,
  // If a name or an address is requested, Apple answers with a cross-site form post, which carries none of our cookies.
  scope: () => '',
  also: { response_mode: 'query' },
  clientId: (settings) => textOf(settings, 'services_id')!,
  clientSecret: appleSecret,
  identify: verifyLikeGame(verifyApple, 'id_token', 'id_token'),
  refusals: { ...DEFAULT_ERRORS, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS' },
});

/** Apple’s client secrets are short-lived tokens signed with the game’s key. */
function appleSecret(settings: PortalSettings, app: App): Promise<string> {
  const said = (name: string) => textOf(settings, name)!;
  const now = app.clock.now();
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: said('key_id') })
    .setIssuer(said('team_id'))
    .setSubject(said('services_id'))
    .setAudience(APPLE)
    .setIssuedAt(now)
    .setExpirationTime(now + APPLE_SECRET_SECONDS)
    .sign(createPrivateKey(said('private_key')));
}

export const apple: PortalDescription = {
  token: { verify: verifyApple, needs: ['id_token'], keysUrl: () => KEYS },
  web: webFlow,
};
