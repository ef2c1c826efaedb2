import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { type Credentials, type Identity, limitedToGame } from './identity.ts';
import { PORTAL_DESCRIPTIONS } from './portals.ts';
import { settingsFor } from './settings.ts';

/** Verifies credentials with the platform. It makes requests, so it must not run within a transaction. */
export async function identify(
  app: App,
  gameId: number,
  portal: LinkedPortal,
  credentials: Credentials,
): Promise<Identity> {
  requireCredentials(portal, credentials);
  const settings = await settingsFor(app, gameId, portal);
  return limitedToGame(
    await PORTAL_DESCRIPTIONS[portal].token.verify({ app, gameId, settings, credentials }),
    settings,
  );
}

function requireCredentials(portal: LinkedPortal, credentials: Credentials): void {
  const { needs, instead } = PORTAL_DESCRIPTIONS[portal].token;
  if (instead && credentials[instead]) return;
  const missing = needs.filter((field) => !credentials[field]);
  if (missing.length === 0) return;
  // The credentials are for another portal than the named one.
  if (missing.length === needs.length && Object.values(credentials).some(Boolean))
    throw new ApiError('LINK_WRONG_SERVICE_ID');
  throw new ApiError('VALIDATION_GENERIC', { fields: missing.map((field) => ({ field, rule: 'required' })) });
}
