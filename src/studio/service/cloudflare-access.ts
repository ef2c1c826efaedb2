import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { verifyToken } from '../../signin/portals/jwt.ts';

/**
 * If the site is configured for Cloudflare Access, requests that bypass it are refused: its assertion must have a valid
 * signature, audience and time.
 */
export async function requireCloudflareAccess(app: App, assertion: string | undefined): Promise<void> {
  const { cloudflareAccess: access } = app.settings;
  if (!access) return;
  if (!assertion) throw new ApiError('CLOUDFLARE_INVALID_TOKEN');
  await verifyToken(app, assertion, {
    keysUrl: `${access.issuer}/cdn-cgi/access/certs`,
    algorithms: ['RS256'],
    issuers: [access.issuer],
    audiences: [access.audience],
    refusals: {
      invalid: 'CLOUDFLARE_INVALID_TOKEN',
      early: 'CLOUDFLARE_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'CLOUDFLARE_INVALID_TOKEN_NOT_VALID_AFTER',
      keys: 'CLOUDFLARE_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
}
