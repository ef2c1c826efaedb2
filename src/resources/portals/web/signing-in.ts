import { type Caller, type KeyCaller, NOBODY } from '../../../access/caller.ts';
import type { App } from '../../../context.ts';
import { ApiError } from '../../../errors/catalogue.ts';
import type { Language } from '../../../localisation/languages.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../../../platforms.ts';
import { requireGame } from '../../games/games.ts';
import { addSession, type Browser, visitDigest } from '../../sessions/sessions.ts';
import type { Identity, PortalSettings } from '../identity.ts';
import { linkIdentity } from '../linking.ts';
import { everySettingsFor, settingsFor } from '../settings.ts';
import { letIn } from '../signing-in.ts';
import type { WebFlow } from './flow.ts';
import { keepJourney, takeJourney } from './journeys.ts';
import { WEB_FLOWS } from './portals.ts';

/** What addresses call the studio's own accounts. */
const STUDIO = 'studio';

/** Where portals send browsers back: an address of its own for each portal and game, so that no answer of one counts for another. */
export const callbackOf = ({ addresses }: Pick<App, 'addresses'>, portal: LinkedPortal, gameId: number): string =>
  addresses.site + callbackPath(portal, gameId);

export const callbackPath = (portal: LinkedPortal, gameId: number | '{id}'): string =>
  `/sign-in/${portal === 'sso' ? STUDIO : portal}/${gameId}`;

export const WEB_PORTALS = Object.keys(WEB_FLOWS) as LinkedPortal[];

/** The portal that a hint names, in any case; studios are also asked for by what they are. */
export function portalNamed(name: string): LinkedPortal | undefined {
  const wanted = name.toLowerCase();
  return wanted === STUDIO ? 'sso' : LINKED_PORTALS.find((portal) => portal === wanted);
}

export interface Offer {
  readonly portal: LinkedPortal;
  /** Where the browser would go. */
  readonly host: string;
}

/** The portals through which people can sign in to a game on the web. */
export async function webPortalsOf(app: App, gameId: number): Promise<Offer[]> {
  if (!(await isThere(app, gameId, keyOf(gameId)))) return [];
  const every = await everySettingsFor(app, gameId);
  return every.flatMap(([portal, settings]) => {
    const flow = WEB_FLOWS[portal];
    if (!flow?.isSetUp(settings)) return [];
    const nowhere = { app, gameId, settings, state: '', verifier: '', callback: '' };
    return [{ portal, host: new URL(flow.leave(nowhere)).host }];
  });
}

/** A game signs its players in before it is open to everyone, as its key does. */
const keyOf = (gameId: number): KeyCaller => ({ kind: 'key', keyId: 0, gameId, userId: undefined });

async function isThere(app: App, gameId: number, caller: Caller): Promise<boolean> {
  try {
    await requireGame(app.db, caller, gameId);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/**
 * Whether browsers are sent on without a click. Anyone can add a game and name any address for its studio; only those
 * that were accepted lead somewhere by themselves.
 */
export const mayLeadOn = (app: App, gameId: number): Promise<boolean> => isThere(app, gameId, NOBODY);

interface Journey {
  readonly portal: LinkedPortal;
  readonly gameId: number;
  readonly verifier: string;
  readonly back?: string | undefined;
  /** Who wants to link the portal; without it someone signs in. */
  readonly userId?: number | undefined;
}

export interface Departure extends Omit<Journey, 'verifier'> {
  readonly visit: string;
}

/** Sends a browser to a portal: the address, or nothing where the game does not use it. */
export async function beginJourney(app: App, departure: Departure): Promise<string | undefined> {
  const { visit, ...wish } = departure;
  const flow = WEB_FLOWS[wish.portal];
  const settings = await settingsFor(app, wish.gameId, wish.portal);
  if (!flow || !settings || !flow.isSetUp(settings) || !(await isThere(app, wish.gameId, keyOf(wish.gameId))))
    return undefined;
  const verifier = app.random.token();
  const journey: Journey = { ...wish, verifier };
  const state = await keepJourney(app, visitDigest(app, visit), journey);
  return flow.leave(leavingOf(app, journey, settings, state));
}

const leavingOf = (app: App, { portal, gameId, verifier }: Journey, settings: PortalSettings, state: string) => ({
  app,
  gameId,
  settings,
  state,
  verifier,
  callback: callbackOf(app, portal, gameId),
});

export interface Guest extends Browser {
  readonly language: Language;
  /** Who is signed in in this browser. */
  readonly userId?: number | undefined;
}

export type Arrival =
  | { readonly kind: 'signed in'; readonly secret: string; readonly back: string | undefined }
  | { readonly kind: 'linked'; readonly back: string | undefined }
  /** Nobody is in before they have agreed; `token` stands for who they are. */
  | { readonly kind: 'asked'; readonly token: string; readonly portal: LinkedPortal };

/** A browser is back from a portal. */
export async function endJourney(
  app: App,
  portal: LinkedPortal,
  gameId: number,
  query: Readonly<Record<string, string | undefined>>,
  guest: Guest,
): Promise<Arrival> {
  const flow = WEB_FLOWS[portal]!;
  const settings = await requireSetUp(app, flow, portal, gameId);
  const visit = visitDigest(app, guest.visit);
  const { state } = query;
  const journey = await takeJourney<Journey>(app, visit, state);
  // What another portal or game was asked for is no answer here, even if the same browser asked.
  const isOurs = journey?.verifier !== undefined && journey.portal === portal && journey.gameId === gameId;
  const isTheirs = journey?.userId === undefined || journey.userId === guest.userId;
  if (!state || !isOurs || !isTheirs) throw new ApiError(flow.refusals.state);
  const identity = await flow.arrive({ ...leavingOf(app, journey, settings, state), query });
  if (journey.userId === undefined) return enter(app, { identity, gameId, back: journey.back }, guest, false);
  await linkIdentity(app, journey.userId, gameId, identity, visit);
  return { kind: 'linked', back: journey.back };
}

async function requireSetUp(app: App, flow: WebFlow, portal: LinkedPortal, gameId: number): Promise<PortalSettings> {
  const settings = await settingsFor(app, gameId, portal);
  const isSetUp = settings && flow.isSetUp(settings) && (await isThere(app, gameId, keyOf(gameId)));
  if (!isSetUp) throw new ApiError(flow.refusals.notSetUp);
  return settings;
}

/** Someone whom a portal has vouched for, in a browser that has yet to be let in. */
interface Vouched {
  readonly identity: Identity;
  readonly gameId: number;
  readonly back?: string | undefined;
}

async function enter(app: App, vouched: Vouched, guest: Guest, termsAgreed: boolean): Promise<Arrival> {
  const { identity, gameId, back } = vouched;
  const visit = visitDigest(app, guest.visit);
  const entry = { termsAgreed, ip: visit, language: guest.language };
  try {
    const { given } = await letIn(app, gameId, identity, entry, (transaction, user) =>
      addSession(app, transaction, user.id, guest.userAgent),
    );
    return { kind: 'signed in', secret: given, back };
  } catch (error) {
    if (!(error instanceof ApiError) || error.error !== 'NO_TERMS_AGREEMENT') throw error;
    return { kind: 'asked', token: await keepJourney(app, visit, vouched), portal: identity.portal };
  }
}

/** They have agreed, in the same browser. */
export async function agreeAndEnter(app: App, token: string | undefined, guest: Guest): Promise<Arrival> {
  const vouched = await takeJourney<Vouched>(app, visitDigest(app, guest.visit), token);
  if (!vouched?.identity) throw new ApiError('INVALID_CSRF_TOKEN');
  return enter(app, vouched, guest, true);
}
