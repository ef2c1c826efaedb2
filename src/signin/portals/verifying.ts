import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { type CredentialField, type Credentials, type Identity, type Verifier, withinReach } from './identity.ts';
import { verifyApple } from './platforms/apple.ts';
import { verifyDiscord } from './platforms/discord.ts';
import { verifyEpicGames } from './platforms/epicgames.ts';
import { verifyFacebook } from './platforms/facebook.ts';
import { verifyGog } from './platforms/gog.ts';
import { verifyGoogle } from './platforms/google.ts';
import { verifyItchio } from './platforms/itchio.ts';
import { verifySwitch } from './platforms/nintendo.ts';
import { verifyOculus } from './platforms/oculus.ts';
import { verifyPsn } from './platforms/psn.ts';
import { verifySso } from './platforms/sso.ts';
import { verifySteam } from './platforms/steam.ts';
import { verifyXbox } from './platforms/xbox.ts';
import { settingsFor } from './settings.ts';

interface Portal {
  readonly verify: Verifier;
  /** What a client has to send, and what it may send instead of all of it. */
  readonly needs: readonly CredentialField[];
  readonly instead?: CredentialField;
}

const VERIFIERS: Readonly<Record<LinkedPortal, Portal>> = {
  apple: { verify: verifyApple, needs: ['id_token'] },
  discord: { verify: verifyDiscord, needs: ['discord_token'] },
  epicgames: { verify: verifyEpicGames, needs: ['id_token'], instead: 'access_token' },
  facebook: { verify: verifyFacebook, needs: ['facebook_token'] },
  gog: { verify: verifyGog, needs: ['appdata'] },
  google: { verify: verifyGoogle, needs: ['auth_code'], instead: 'id_token' },
  itchio: { verify: verifyItchio, needs: ['itchio_token'] },
  nintendo: { verify: verifySwitch, needs: ['id_token'] },
  oculus: { verify: verifyOculus, needs: ['device', 'nonce', 'user_id', 'access_token'] },
  psn: { verify: verifyPsn, needs: ['auth_code'] },
  sso: { verify: verifySso, needs: ['id_token'] },
  steam: { verify: verifySteam, needs: ['appdata'] },
  xboxlive: { verify: verifyXbox, needs: ['xbox_token'] },
};

/** Whom a portal says these credentials belong to. Platforms are asked here, hence never within a transaction. */
export async function identify(
  app: App,
  gameId: number,
  portal: LinkedPortal,
  credentials: Credentials,
): Promise<Identity> {
  requireCredentials(portal, credentials);
  const settings = await settingsFor(app, gameId, portal);
  return withinReach(await VERIFIERS[portal].verify({ app, gameId, settings, credentials }), settings);
}

function requireCredentials(portal: LinkedPortal, credentials: Credentials): void {
  const { needs, instead } = VERIFIERS[portal];
  if (instead && credentials[instead]) return;
  const missing = needs.filter((field) => !credentials[field]);
  if (missing.length === 0) return;
  // What was sent is meant for another portal than the one that was named.
  if (missing.length === needs.length && Object.values(credentials).some(Boolean))
    throw new ApiError('LINK_WRONG_SERVICE_ID');
  throw new ApiError('VALIDATION_GENERIC', { fields: missing.map((field) => ({ field, rule: 'required' })) });
}
