import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { apple } from './platforms/apple.ts';
import { discord } from './platforms/discord.ts';
import { epicgames } from './platforms/epicgames.ts';
import { facebook } from './platforms/facebook.ts';
import { gog } from './platforms/gog.ts';
import { google } from './platforms/google.ts';
import { itchio } from './platforms/itchio.ts';
import { nintendo } from './platforms/nintendo.ts';
import { oculus } from './platforms/oculus.ts';
import { psn } from './platforms/psn.ts';
import { sso } from './platforms/sso.ts';
import { steam } from './platforms/steam.ts';
import { xbox } from './platforms/xbox.ts';
import type { PortalDescription } from './portal.ts';

/** Every portal that games can configure. */
export const PORTAL_DESCRIPTIONS: Readonly<Record<LinkedPortal, PortalDescription>> = {
  apple,
  discord,
  epicgames,
  facebook,
  gog,
  google,
  itchio,
  nintendo,
  oculus,
  psn,
  sso,
  steam,
  xboxlive: xbox,
};
