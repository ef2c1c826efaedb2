import { requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { EgressError } from '../../platform/egress/egress.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import type { PortalSettings } from './identity.ts';
import { fetchKeySet } from './key-sets.ts';
import { addressOf } from './platform-requests.ts';
import { PORTAL_DESCRIPTIONS } from './portals.ts';
import { failureOf } from './probe-failures.ts';
import { settingsFor } from './settings.ts';
import type { Leaving, ProbeStep } from './web/flow.ts';
import { callbackOf } from './web/signing-in.ts';

/**
 * Tries each part of a sign-in that needs no user: whether the keys can be loaded, whether the portal shows its page, and
 * whether it accepts the secret. It makes requests, so it must not run within a transaction.
 */
export async function testPortal(
  app: App,
  caller: UserCaller,
  gameId: number,
  portal: LinkedPortal,
): Promise<ProbeStep[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  const settings = await settingsFor(app, gameId, portal);
  if (!settings) throw new ApiError('RESOURCE_NOT_FOUND');
  const { token, web } = PORTAL_DESCRIPTIONS[portal];
  const keysUrl = token.keysUrl?.(settings);
  const steps = keysUrl === undefined ? [] : [await probeKeys(app, addressOf(app, portal, keysUrl))];
  const isOffered = web.isSetUp(settings);
  steps.push({ step: 'settings', ok: isOffered });
  if (!isOffered) return steps;
  const leaving = leavingFor(app, gameId, portal, settings);
  steps.push(await probePage(app, addressOf(app, portal, web.leave(leaving))));
  const secret = await web.probeSecret?.(leaving);
  return secret ? [...steps, secret] : steps;
}

const leavingFor = (app: App, gameId: number, portal: LinkedPortal, settings: PortalSettings): Leaving => ({
  app,
  gameId,
  settings,
  state: app.random.uuid(),
  verifier: app.random.token(),
  callback: callbackOf(app, portal, gameId),
});

async function probeKeys(app: App, url: string): Promise<ProbeStep> {
  try {
    const { count } = await fetchKeySet(app, url, false);
    return { step: 'keys', ok: count > 0, detail: { name: 'portal_keys', values: { count } } };
  } catch (cause) {
    return { step: 'keys', ok: false, ...failureOf(cause) };
  }
}

/** Portals that know the redirect URI answer with a page or send the browser on. */
async function probePage(app: App, url: string): Promise<ProbeStep> {
  try {
    const { status } = await app.egress.fetch(url, { redirectsMax: 0, headers: { accept: 'text/html' } });
    return { step: 'page', ok: status < 400, detail: { name: 'portal_status', values: { status } } };
  } catch (cause) {
    if (cause instanceof EgressError && cause.reason === 'redirects')
      return { step: 'page', ok: true, detail: { name: 'portal_redirects' } };
    return { step: 'page', ok: false, ...failureOf(cause) };
  }
}
