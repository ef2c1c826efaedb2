import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, listOf, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, type TokenAnswer } from '../web/code-flow.ts';
import { onceUntil } from './claims.ts';

const ISSUER = 'https://e0d67c509fb203858ebcb2fe3f88c2aa.baas.nintendo.com';

/** The errors for invalid Nintendo tokens. */
const NINTENDO_REFUSALS = {
  invalid: 'SWITCH_INVALID_TOKEN',
  early: 'SWITCH_INVALID_TOKEN_NOT_VALID_BEFORE',
  late: 'SWITCH_INVALID_TOKEN_NOT_VALID_AFTER',
  issuer: 'SWITCH_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
  keys: 'SWITCH_UNABLE_TO_GET_JWK_SIGNATURE',
} as const;

const keysUrlOf = (settings: PortalSettings | undefined): string =>
  textOf(settings, 'keys_url') ?? `${textOf(settings, 'issuer') ?? ISSUER}/1.0.0/certificates`;

/** Nintendo Switch: the ID token of a Nintendo Service Account. The address of the keys in it (`jku`) is ignored. */
async function verifySwitch({ app, settings, credentials }: Verification): Promise<Identity> {
  const applications = listOf(settings, 'app_ids').map((each) => each.toLowerCase());
  if (applications.length === 0) throw new ApiError('SWITCH_APP_ID_NOT_CONFIGURED');
  const { id_token: token = '' } = credentials;
  const issuer = textOf(settings, 'issuer') ?? ISSUER;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'nintendo', keysUrlOf(settings)),
    algorithms: ['RS256'],
    issuers: [issuer],
    claimsRequired: ['sub'],
    refusals: NINTENDO_REFUSALS,
  });
  const id = stringOf(claims.sub);
  if (!id) throw new ApiError('SWITCH_INVALID_TOKEN');
  if (!applications.includes(stringOf(objectOf(claims['nintendo'])['ai']).toLowerCase()))
    throw new ApiError('SWITCH_APP_ID_NOT_VALID');
  return { portal: 'nintendo', id, displayName: '', avatar: '', ticket: onceUntil(token, claims) };
}

const ACCOUNT_ISSUER = 'https://accounts.nintendo.com';
const ME = 'https://api.accounts.nintendo.com/2.0.0/users/me';

/**
 * Nintendo Accounts. Their ids look like those of the consoles’ service accounts but differ, so they get a prefix and a
 * separate slot, which allows a user to link both.
 */
const nintendoFlow = codeFlow({
  portal: 'nintendo',
  needs: ['client_id', 'client_secret'],
  isPerGame: true,
  authorizeUrl: (settings) => textOf(settings, 'authorize_url') ?? `${ACCOUNT_ISSUER}/connect/1.0.0/authorize`,
  tokenUrl: (settings) => textOf(settings, 'web_token_url') ?? `${ACCOUNT_ISSUER}/connect/1.0.0/api/token`,
  scope: () => 'openid user',
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  authentication: () => 'basic',
  issuer: (settings) => textOf(settings, 'web_issuer') ?? ACCOUNT_ISSUER,
  identify: whoIs,
  refusals: { ...DEFAULT_ERRORS, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS', token: 'SWITCH_INVALID_TOKEN' },
});

async function whoIs(verification: Verification, { id_token, access_token }: TokenAnswer): Promise<Identity> {
  const { app, settings } = verification;
  const token = stringOf(id_token);
  const issuer = textOf(settings, 'web_issuer') ?? ACCOUNT_ISSUER;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'nintendo', textOf(settings, 'web_keys_url') ?? `${issuer}/1.0.0/certificates`),
    algorithms: ['RS256'],
    issuers: [issuer],
    audiences: [textOf(settings, 'client_id')!],
    claimsRequired: ['sub'],
    refusals: NINTENDO_REFUSALS,
  });
  const id = stringOf(claims.sub);
  // Access tokens are signed by the same keys for the same client.
  if (!id || (claims['typ'] ?? 'id_token') !== 'id_token') throw new ApiError('SWITCH_INVALID_TOKEN');
  const displayName = await nicknameOf(verification, id, stringOf(access_token));
  return {
    portal: 'nintendo',
    id: `account/${id}`,
    displayName,
    avatar: '',
    perGame: true,
    ticket: onceUntil(token, claims),
  };
}

/** The ID token contains no name. The sign-in succeeds without one. */
async function nicknameOf({ app }: Verification, id: string, token: string): Promise<string> {
  if (!token) return '';
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'nintendo', ME),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } },
    'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  );
  return ok && body['id'] === id ? stringOf(body['nickname']) : '';
}

export const nintendo: PortalDescription = {
  token: { verify: verifySwitch, needs: ['id_token'], keysUrl: keysUrlOf },
  web: nintendoFlow,
};
