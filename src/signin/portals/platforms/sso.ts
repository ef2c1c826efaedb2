import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import { idTextOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { onceUntil } from './claims.ts';

const SKEW_SECONDS = 10;

/** The studio's own accounts: an ID token, signed with a key at the address that the game's settings name. */
export async function verifySso({ app, gameId, settings, credentials }: Asking): Promise<Identity> {
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

/** The site, or exactly this game: with its scheme or without. */
function audiencesOf({ addresses }: App, gameId: number): string[] {
  const origins = [addresses.site, new URL(addresses.gameApi(gameId)).origin];
  return origins.flatMap((origin) => [origin, new URL(origin).host, new URL(origin).hostname]);
}
