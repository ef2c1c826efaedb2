import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, form, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, type TokenAnswer } from '../web/code-flow.ts';

const ISSUER = 'https://auth.api.sonyentertainmentnetwork.com';
/** The production environment; the others are for development. */
const LIVE = '256';

/** The scopes for games and for the web. */
const PSN_SCOPE = 'openid id_token:psn.basic_claims';

/** PlayStation: an authorization code that the game’s own secret exchanges for an ID token. */
async function verifyPsn(verification: Verification): Promise<Identity> {
  const { settings, credentials } = verification;
  const clientId = textOf(settings, 'client_id');
  const secret = textOf(settings, 'client_secret');
  if (!clientId || !secret) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const token = await exchange(verification, clientId, secret);
  const { issuer, keysUrl } = psnIssuer(settings);
  return psnIdentityOf(verification, token, { clientId, issuer, keysUrl, env: credentials.env });
}

function psnIssuer(settings: PortalSettings | undefined): { issuer: string; keysUrl: string } {
  const issuer = textOf(settings, 'issuer') ?? ISSUER;
  return { issuer, keysUrl: textOf(settings, 'keys_url') ?? `${issuer}/2.0/oauth/jwks` };
}

interface PsnRules {
  readonly clientId: string;
  readonly issuer: string;
  readonly keysUrl: string;
  readonly env?: string | undefined;
}

/** The user of a PlayStation ID token. Children, and users who may not see user-generated content, are refused. */
async function psnIdentityOf({ app, settings }: Verification, token: string, rules: PsnRules): Promise<Identity> {
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'psn', rules.keysUrl),
    algorithms: ['RS256', 'ES256'],
    issuers: [rules.issuer],
    audiences: [rules.clientId],
    claimsRequired: ['sub'],
    refusals: {
      invalid: 'PSN_INVALID_TOKEN',
      early: 'PSN_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'PSN_INVALID_TOKEN_NOT_VALID_AFTER',
      keys: 'PSN_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
  const id = stringOf(claims.sub);
  const { env = LIVE } = rules;
  // A developer account must not pass for a player’s account.
  if (!id || String(claims['env_iss_id'] ?? LIVE) !== env) throw new ApiError('PSN_INVALID_TOKEN');
  if (claims[textOf(settings, 'child_claim') ?? 'is_sub_account'] === true)
    throw new ApiError('PSN_CHILD_PROFILE_NOT_PERMITTED');
  if (claims[textOf(settings, 'ugc_claim') ?? 'ugc_restricted'] === true)
    throw new ApiError('PSN_UGC_INTERACTION_NOT_PERMITTED');
  const displayName = stringOf(claims['online_id']);
  return { portal: 'psn', id: env === LIVE ? id : `${env}/${id}`, displayName, avatar: '' };
}

async function exchange(
  { app, settings, credentials }: Verification,
  clientId: string,
  secret: string,
): Promise<string> {
  const url = textOf(settings, 'token_url') ?? `${ISSUER}/2.0/oauth/token`;
  const fields = {
    grant_type: 'authorization_code',
    code: credentials.auth_code ?? '',
    scope: PSN_SCOPE,
  };
  const request = form({ ...fields, redirect_uri: textOf(settings, 'redirect_uri') ?? 'orbis://games' });
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'psn', url),
    { ...request, headers: { ...request.headers, authorization } },
    'PSN_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok) throw new ApiError('PSN_INVALID_TOKEN');
  const token = stringOf(body['id_token']);
  if (!token) throw new ApiError('PSN_UNABLE_TO_GET_ACCOUNT_DATA');
  return token;
}

const SONY = 'https://ca.account.sony.com/api/authz/v3/oauth';

/** The client id for browsers, by default the game’s. */
const webClientId = (settings: PortalSettings | undefined): string =>
  (textOf(settings, 'web_client_id') ?? textOf(settings, 'client_id'))!;

/** PlayStation in browsers: the same identities and restrictions as in games. */
const psnFlow = codeFlow({
  portal: 'psn',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: (settings) => textOf(settings, 'authorize_url') ?? `${SONY}/authorize`,
  tokenUrl: (settings) => textOf(settings, 'web_token_url') ?? `${SONY}/token`,
  scope: () => PSN_SCOPE,
  alsoRedeeming: { scope: PSN_SCOPE, token_format: 'jwt' },
  clientId: webClientId,
  clientSecret: (settings) =>
    textOf(settings, textOf(settings, 'web_client_id') ? 'web_client_secret' : 'client_secret')!,
  authentication: () => 'basic',
  identify: whoIs,
  refusals: { ...DEFAULT_ERRORS, unreachable: 'PSN_UNABLE_TO_GET_ACCOUNT_DATA', token: 'PSN_INVALID_TOKEN' },
});

async function whoIs(verification: Verification, { id_token }: TokenAnswer): Promise<Identity> {
  const token = stringOf(id_token);
  if (!token) throw new ApiError('PSN_UNABLE_TO_GET_ACCOUNT_DATA');
  const { settings } = verification;
  const ofGames = psnIssuer(settings);
  return psnIdentityOf(verification, token, {
    clientId: webClientId(settings),
    issuer: textOf(settings, 'web_issuer') ?? ofGames.issuer,
    keysUrl: textOf(settings, 'web_keys_url') ?? ofGames.keysUrl,
  });
}

export const psn: PortalDescription = {
  token: { verify: verifyPsn, needs: ['auth_code'], keysUrl: (settings) => psnIssuer(settings).keysUrl },
  web: psnFlow,
};
