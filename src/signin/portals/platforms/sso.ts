import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { idTextOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, type TokenAnswer } from '../web/code-flow.ts';
import { onceUntil } from './claims.ts';

const SKEW_SECONDS = 10;

/** The studio’s own accounts: an ID token signed with a key at the address in the game’s settings. */
async function verifySso({ app, gameId, settings, credentials }: Verification): Promise<Identity> {
  const keysUrl = textOf(settings, 'jwks_url');
  if (!keysUrl) throw new ApiError('OPENID_GAME_NOT_SUPPORTED');
  if (textOf(settings, 'active') !== 'true') throw new ApiError('OPENID_CONFIG_NOT_ACTIVE');
  const { id_token: token = '' } = credentials;
  const issuer = textOf(settings, 'issuer');
  const audience = textOf(settings, 'audience');
  const claims = await verifyToken(app, token, {
    keysUrl,
    algorithms: ['ES256', 'ES512', 'RS256'],
    ...(issuer && { issuers: [issuer] }),
    audiences: audience ? [audience] : audiencesOf(app, gameId),
    skewSeconds: SKEW_SECONDS,
    algRequired: true,
    claimsRequired: ['sub', 'iat'],
    refusals: {
      invalid: 'OPENID_INVALID_TOKEN',
      early: 'OPENID_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'OPENID_INVALID_TOKEN_NOT_VALID_AFTER',
      audience: 'OPENID_BAD_AUDIENCE',
      signature: 'OPENID_CONFIG_SIGNATURE_FAILURE',
      keys: 'OPENID_CANNOT_REACH_IDENTITY_PROVIDER',
      keysAddress: 'OPENID_CONFIG_JWK_URL_UNREACHABLE',
    },
  });
  const id = idTextOf(claims.sub);
  if (!id) throw new ApiError('OPENID_INVALID_TOKEN');
  return {
    portal: 'sso',
    id,
    displayName: stringOf(claims[textOf(settings, 'display_name_claim') ?? 'name']),
    avatar: stringOf(claims[textOf(settings, 'avatar_claim') ?? 'picture']),
    ticket: onceUntil(token, claims),
  };
}

/** The site, or this game: with or without the scheme. */
function audiencesOf({ addresses }: App, gameId: number): string[] {
  const origins = [addresses.site, new URL(addresses.gameApi(gameId)).origin];
  return origins.flatMap((origin) => [origin, new URL(origin).host, new URL(origin).hostname]);
}

/** Studios allow this name in their firewalls. */
const USER_AGENT = 'ModioSSO/1.0';

const required = (settings: PortalSettings | undefined, name: string): string => textOf(settings, name)!;

/** The studio’s own accounts on the web: an authorization code flow with the addresses in the game’s settings. */
const studioFlow = codeFlow({
  portal: 'sso',
  needs: ['authorize_url', 'token_url', 'userinfo_url', 'client_id', 'client_secret'],
  authorizeUrl: (settings) => required(settings, 'authorize_url'),
  tokenUrl: (settings) => required(settings, 'token_url'),
  scope: (settings) => textOf(settings, 'scopes') ?? '',
  clientId: (settings) => required(settings, 'client_id'),
  clientSecret: (settings) => required(settings, 'client_secret'),
  authentication: (settings) => (textOf(settings, 'client_authentication') === 'basic' ? 'basic' : 'post'),
  issuer: (settings) => textOf(settings, 'issuer') ?? new URL(required(settings, 'authorize_url')).origin,
  userAgent: USER_AGENT,
  identify: whoIs,
  refusals: {
    notSetUp: 'STUDIO_OAUTH_NOT_CONFIGURED',
    state: 'STUDIO_OAUTH_STATE_INVALID',
    denied: 'STUDIO_OAUTH_DENIED',
    response: 'STUDIO_OAUTH_RESPONSE_INVALID',
    unreachable: 'STUDIO_OAUTH_TOKEN_URL_UNREACHABLE',
    token: 'STUDIO_OAUTH_TOKEN_INVALID',
  },
});

async function whoIs({ app, settings }: Verification, { access_token, token_type }: TokenAnswer): Promise<Identity> {
  const token = stringOf(access_token);
  // Other token types need another way to authenticate (RFC 6749, section 7.1).
  if (!token || stringOf(token_type).toLowerCase() !== 'bearer') throw new ApiError('STUDIO_OAUTH_TOKEN_INVALID');
  const { ok, body } = await requestPlatform(
    app,
    required(settings, 'userinfo_url'),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': USER_AGENT } },
    'STUDIO_OAUTH_USERINFO_UNREACHABLE',
  );
  if (!ok) throw new ApiError('STUDIO_OAUTH_USERINFO_UNREACHABLE');
  const id = idTextOf(body[textOf(settings, 'portal_id_claim') ?? 'sub']);
  if (!id) throw new ApiError('STUDIO_OAUTH_PORTAL_ID_MISSING');
  return {
    portal: 'sso',
    id,
    displayName: stringOf(body[textOf(settings, 'display_name_claim') ?? 'name']),
    avatar: stringOf(body[textOf(settings, 'avatar_claim') ?? 'picture']),
  };
}

export const sso: PortalDescription = {
  token: { verify: verifySso, needs: ['id_token'], keysUrl: (settings) => textOf(settings, 'jwks_url') },
  web: studioFlow,
};
