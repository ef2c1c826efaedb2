import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../../platform/vocabulary/game-platforms.ts';
import { idTextOf } from '../asking.ts';
import { listOf, type PortalSettings, textOf } from '../identity.ts';
import { verifyApple } from '../platforms/apple.ts';
import { verifyDiscord } from '../platforms/discord.ts';
import { verifyEpicGames } from '../platforms/epicgames.ts';
import { verifyFacebook } from '../platforms/facebook.ts';
import { gogIdentityOf } from '../platforms/gog.ts';
import { verifyGoogle } from '../platforms/google.ts';
import { codeFlow, shownAs, USUAL } from './code-flow.ts';
import type { WebFlow } from './flow.ts';
import { itchioFlow } from './itchio.ts';
import { nintendoFlow } from './nintendo.ts';
import { oculusFlow } from './oculus.ts';
import { psnFlow } from './psn.ts';
import { steamOpenid } from './steam-openid.ts';
import { studioFlow } from './studio.ts';
import { xboxFlow } from './xbox.ts';

const secretOf = (settings: PortalSettings) => textOf(settings, 'client_secret')!;
const APPLE = 'https://appleid.apple.com';
const APPLE_SECRET_SECONDS = 300;

/** How people sign in on the web, with any portal that games can set up. */
export const WEB_FLOWS: Readonly<Record<LinkedPortal, WebFlow>> = {
  apple: codeFlow({
    portal: 'apple',
    needs: ['services_id', 'team_id', 'key_id', 'private_key'],
    authorizeUrl: () => `${APPLE}/auth/authorize`,
    tokenUrl: () => `${APPLE}/auth/token`,
    // For a name or an address Apple would answer with a form of its own, which brings no cookies of ours along.
    scope: () => '',
    also: { response_mode: 'query' },
    clientId: (settings) => textOf(settings, 'services_id')!,
    clientSecret: appleSecret,
    identify: shownAs(verifyApple, 'id_token', 'id_token'),
    refusals: { ...USUAL, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS' },
  }),
  discord: codeFlow({
    portal: 'discord',
    needs: ['client_id', 'client_secret'],
    authorizeUrl: () => 'https://discord.com/oauth2/authorize',
    tokenUrl: () => 'https://discord.com/api/v10/oauth2/token',
    scope: () => 'identify',
    clientId: (settings) => textOf(settings, 'client_id')!,
    clientSecret: secretOf,
    identify: shownAs(verifyDiscord, 'discord_token', 'access_token'),
    refusals: { ...USUAL, unreachable: 'DISCORD_UNABLE_TO_GET_ACCOUNT_DATA' },
  }),
  epicgames: codeFlow({
    portal: 'epicgames',
    needs: ['client_ids', 'client_secret'],
    authorizeUrl: () => 'https://www.epicgames.com/id/authorize',
    tokenUrl: () => 'https://api.epicgames.dev/epic/oauth/v2/token',
    scope: () => 'basic_profile openid',
    clientId: (settings) => listOf(settings, 'client_ids')[0]!,
    clientSecret: secretOf,
    authentication: () => 'basic',
    identify: shownAs(verifyEpicGames, 'id_token', 'id_token'),
    refusals: { ...USUAL, unreachable: 'EPIC_GAMES_UNABLE_TO_GET_ACCOUNT_DATA' },
  }),
  facebook: codeFlow({
    portal: 'facebook',
    needs: ['app_id', 'app_secret'],
    authorizeUrl: () => 'https://www.facebook.com/v23.0/dialog/oauth',
    tokenUrl: () => 'https://graph.facebook.com/v23.0/oauth/access_token',
    scope: () => 'public_profile',
    clientId: (settings) => textOf(settings, 'app_id')!,
    clientSecret: (settings) => textOf(settings, 'app_secret')!,
    identify: shownAs(verifyFacebook, 'facebook_token', 'access_token'),
    refusals: { ...USUAL, unreachable: 'FACEBOOK_UNABLE_TO_GET_ACCOUNT_DATA' },
  }),
  gog: codeFlow({
    portal: 'gog',
    needs: ['client_id', 'client_secret'],
    authorizeUrl: () => 'https://auth.gog.com/auth',
    tokenUrl: () => 'https://auth.gog.com/token',
    scope: () => '',
    also: { layout: 'default' },
    clientId: (settings) => textOf(settings, 'client_id')!,
    clientSecret: secretOf,
    authentication: () => 'query',
    identify: (asking, answer) => {
      const id = idTextOf(answer['user_id']);
      if (!/^\d{1,20}$/.test(id)) throw new ApiError('GOG_UNABLE_TO_GET_ACCOUNT_DATA');
      return gogIdentityOf(asking.app, id);
    },
    refusals: { ...USUAL, unreachable: 'GOG_UNABLE_TO_GET_ACCOUNT_DATA' },
  }),
  google: codeFlow({
    portal: 'google',
    needs: ['client_ids', 'client_secret'],
    authorizeUrl: () => 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: () => 'https://oauth2.googleapis.com/token',
    scope: () => 'openid profile email',
    clientId: (settings) => listOf(settings, 'client_ids')[0]!,
    clientSecret: secretOf,
    issuer: () => 'https://accounts.google.com',
    identify: shownAs(verifyGoogle, 'id_token', 'id_token'),
    refusals: { ...USUAL, unreachable: 'GOOGLE_UNABLE_TO_GET_ACCOUNT_DATA' },
  }),
  itchio: itchioFlow,
  nintendo: nintendoFlow,
  oculus: oculusFlow,
  psn: psnFlow,
  sso: studioFlow,
  steam: steamOpenid,
  xboxlive: xboxFlow,
};

/** Apple's secrets are tokens that the game's key signs, for a short time. */
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
