import { requireGame } from '../../../catalogue/games/games.ts';
import { type Caller, type KeyCaller, NOBODY } from '../../../platform/access/caller.ts';
import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import type { Language } from '../../../platform/localisation/languages.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../../../platform/vocabulary/game-platforms.ts';
import { addSession, type Browser, visitDigest } from '../../sessions/sessions.ts';
import { gameOf, shownName } from '../accounts.ts';
import { type Identity, limitedToGame, type PortalSettings } from '../identity.ts';
import { linkIdentity } from '../linking.ts';
import { PORTAL_DESCRIPTIONS } from '../portals.ts';
import { everySettingsFor, settingsFor } from '../settings.ts';
import { signInIdentity } from '../signing-in.ts';
import { NotIdentifiedYet, type ReturnedAnswer, type WebFlow } from './flow.ts';
import { storeJourney, takeJourney } from './journeys.ts';

/** The name of the studio’s own accounts in addresses. */
const STUDIO = 'studio';

/**
 * The redirect URI. It is specific to the portal and the game, so that an answer for one cannot be used for another.
 */
export const callbackOf = ({ addresses }: Pick<App, 'addresses'>, portal: LinkedPortal, gameId: number): string =>
  addresses.site + callbackPath(portal, gameId);

export const callbackPath = (portal: LinkedPortal, gameId: number | '{id}'): string =>
  `/sign-in/${portal === 'sso' ? STUDIO : portal}/${gameId}`;

export const WEB_PORTALS = Object.keys(PORTAL_DESCRIPTIONS) as LinkedPortal[];

/** The portal with this name, in any case; `studio` is an alias of `sso`. */
export function portalNamed(name: string): LinkedPortal | undefined {
  const wanted = name.toLowerCase();
  return wanted === STUDIO ? 'sso' : LINKED_PORTALS.find((portal) => portal === wanted);
}

export interface Offer {
  readonly portal: LinkedPortal;
  /** The host that the browser would be sent to. */
  readonly host: string;
  /** The slot of an account from this portal: the game, or 0 for all games. */
  readonly place: number;
}

/** The portals with which users can sign in to a game on the web. */
export async function webPortalsOf(app: App, gameId: number): Promise<Offer[]> {
  if (!(await isThere(app, gameId, keyOf(gameId)))) return [];
  const isAccepted = await isThere(app, gameId, NOBODY);
  const every = await everySettingsFor(app, gameId);
  return every.flatMap(([portal, settings]) => {
    const flow = PORTAL_DESCRIPTIONS[portal].web;
    if (!flow.isSetUp(settings) || (flow.requiresAcceptedGame && !isAccepted)) return [];
    const nowhere = { app, gameId, settings, state: '', verifier: '', callback: '' };
    const { host } = new URL(flow.leave(nowhere));
    const anyone = limitedToGame({ portal, id: '', displayName: '', avatar: '' }, settings);
    return [{ portal, host, place: flow.isPerGame ? gameId : gameOf(anyone, gameId) }];
  });
}

/** Players can sign in to a game before it is public, as with its key. */
const keyOf = (gameId: number): KeyCaller => ({ kind: 'key', keyId: 0, gameId, userId: undefined });

const isOpen = async (app: App, flow: WebFlow, gameId: number, settings: PortalSettings): Promise<boolean> =>
  flow.isSetUp(settings) && isThere(app, gameId, flow.requiresAcceptedGame ? NOBODY : keyOf(gameId));

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
 * Whether browsers are redirected without a click. Anyone can add a game and configure any address for its studio, so
 * only accepted games redirect.
 */
export const mayRedirect = (app: App, gameId: number): Promise<boolean> => isThere(app, gameId, NOBODY);

interface Journey {
  readonly portal: LinkedPortal;
  readonly gameId: number;
  readonly verifier: string;
  readonly back?: string | undefined;
  /** The user who wants to link the portal; undefined for a sign-in. */
  readonly userId?: number | undefined;
}

export interface Departure extends Omit<Journey, 'verifier'> {
  readonly visit: string;
}

/** Returns the address to which the browser is sent, or undefined if the game does not use the portal. */
export async function beginJourney(app: App, departure: Departure): Promise<string | undefined> {
  const { visit, ...wish } = departure;
  const flow = PORTAL_DESCRIPTIONS[wish.portal].web;
  const settings = await settingsFor(app, wish.gameId, wish.portal);
  if (!settings || !(await isOpen(app, flow, wish.gameId, settings))) return undefined;
  const verifier = app.random.token();
  const journey: Journey = { ...wish, verifier };
  const token = flow.hasNoState ? ownState(app, visit, wish.portal, wish.gameId) : app.random.token();
  const state = await storeJourney(app, visitDigest(app, visit), journey, token);
  return flow.leave(leavingOf(app, journey, settings, state));
}

/** The state of the only sign-in in this browser, for portals that return no state. */
const ownState = (app: App, visit: string, portal: LinkedPortal, gameId: number): string =>
  app.secrets.sign('portals/own-journey', `${visit} ${portal} ${gameId}`);

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
  /** The user who is signed in in this browser. */
  readonly userId?: number | undefined;
}

export type Arrival =
  | { readonly kind: 'signed in'; readonly secret: string; readonly back: string | undefined }
  | { readonly kind: 'linked'; readonly back: string | undefined }
  /** The user has to agree to the terms first; `token` identifies the stored sign-in. */
  | { readonly kind: 'terms'; readonly token: string; readonly portal: LinkedPortal }
  /** The portal does not yet identify the user. */
  | { readonly kind: 'waiting'; readonly token: string; readonly portal: LinkedPortal }
  /** Another site may have started the return, so the user has to confirm the account. */
  | {
      readonly kind: 'named';
      readonly token: string;
      readonly portal: LinkedPortal;
      readonly name: string;
      readonly isLinking: boolean;
    };

/** Whether the portal answers in the fragment, which only a script can read. */
export const answersInFragment = (portal: LinkedPortal): boolean =>
  PORTAL_DESCRIPTIONS[portal].web.answersInFragment === true;

/** Refuses a return from a portal that the game does not use. */
export async function requireWebPortal(app: App, portal: LinkedPortal, gameId: number): Promise<void> {
  await requireSetUp(app, PORTAL_DESCRIPTIONS[portal].web, portal, gameId);
}

/** Handles a browser that returns from a portal. */
export async function endJourney(
  app: App,
  portal: LinkedPortal,
  gameId: number,
  brought: ReturnedAnswer,
  guest: Guest,
): Promise<Arrival> {
  const flow = PORTAL_DESCRIPTIONS[portal].web;
  const settings = await requireSetUp(app, flow, portal, gameId);
  const visit = visitDigest(app, guest.visit);
  const state = flow.hasNoState ? ownState(app, guest.visit, portal, gameId) : brought.query['state'];
  const journey = await takeJourney<Journey>(app, visit, state);
  // An answer for another portal or game is refused, even in the same browser.
  const isOurs = journey?.verifier !== undefined && journey.portal === portal && journey.gameId === gameId;
  if (!state || !isOurs || !isTheirs(journey, guest)) throw new ApiError(flow.refusals.state);
  const arriving = { ...leavingOf(app, journey, settings, state), ...brought };
  return arrive(app, journey, settings, guest, () => flow.arrive(arriving));
}

/** Continues with the confirmed identity, or asks for a retry. */
async function arrive(
  app: App,
  journey: Journey,
  settings: PortalSettings,
  guest: Guest,
  ask: () => Promise<Identity>,
): Promise<Arrival> {
  const { portal, gameId, back, userId } = journey;
  const visit = visitDigest(app, guest.visit);
  try {
    const vouched: ConfirmedSignIn = { identity: limitedToGame(await ask(), settings), gameId, back, userId };
    return await (PORTAL_DESCRIPTIONS[portal].web.hasNoState
      ? askWhether(app, vouched, visit)
      : settle(app, vouched, guest, false));
  } catch (error) {
    if (!(error instanceof NotIdentifiedYet)) throw error;
    return { kind: 'waiting', token: await storeJourney(app, visit, { ...journey, held: error.held }), portal };
  }
}

/** Asks the portal again, in the same browser. */
export async function retryPortal(
  app: App,
  portal: LinkedPortal,
  gameId: number,
  token: string | undefined,
  guest: Guest,
): Promise<Arrival> {
  const flow = PORTAL_DESCRIPTIONS[portal].web;
  const settings = await requireSetUp(app, flow, portal, gameId);
  const waiting = await takeJourney<Journey & { held?: object }>(app, visitDigest(app, guest.visit), token);
  const isOurs = waiting?.held && waiting.portal === portal && waiting.gameId === gameId;
  if (!isOurs || !isTheirs(waiting, guest)) throw new ApiError(flow.refusals.state);
  const { held, ...journey } = waiting;
  return arrive(app, journey, settings, guest, () => flow.resume!(leavingOf(app, journey, settings, ''), held!));
}

const isTheirs = ({ userId }: Pick<Journey, 'userId'>, guest: Guest): boolean =>
  userId === undefined || userId === guest.userId;

async function askWhether(app: App, vouched: ConfirmedSignIn, visit: string): Promise<Arrival> {
  const { portal, displayName, id } = vouched.identity;
  const token = await storeJourney(app, visit, vouched);
  return { kind: 'named', token, portal, name: shownName(displayName) || id, isLinking: vouched.userId !== undefined };
}

/** Links the account if a signed-in user started it, otherwise signs in. */
async function settle(app: App, vouched: ConfirmedSignIn, guest: Guest, termsAgreed: boolean): Promise<Arrival> {
  const { identity, gameId, back, userId } = vouched;
  if (userId === undefined) return enter(app, vouched, guest, termsAgreed);
  await linkIdentity(app, userId, gameId, identity, visitDigest(app, guest.visit));
  return { kind: 'linked', back };
}

async function requireSetUp(app: App, flow: WebFlow, portal: LinkedPortal, gameId: number): Promise<PortalSettings> {
  const settings = await settingsFor(app, gameId, portal);
  if (!settings || !(await isOpen(app, flow, gameId, settings))) throw new ApiError(flow.refusals.notSetUp);
  return settings;
}

/** A confirmed identity in a browser that is not signed in yet. */
interface ConfirmedSignIn {
  readonly identity: Identity;
  readonly gameId: number;
  readonly back?: string | undefined;
  readonly userId?: number | undefined;
}

async function enter(app: App, vouched: ConfirmedSignIn, guest: Guest, termsAgreed: boolean): Promise<Arrival> {
  const { identity, gameId, back } = vouched;
  const visit = visitDigest(app, guest.visit);
  const entry = { termsAgreed, ip: visit, language: guest.language };
  try {
    const secret = await signInIdentity(app, gameId, identity, entry, (transaction, user) =>
      addSession(app, transaction, user.id, guest.userAgent),
    );
    return { kind: 'signed in', secret, back };
  } catch (error) {
    if (!(error instanceof ApiError) || error.error !== 'NO_TERMS_AGREEMENT') throw error;
    return { kind: 'terms', token: await storeJourney(app, visit, vouched), portal: identity.portal };
  }
}

/**
 * The user confirmed in the same browser that the account is theirs; `termsAgreed` means that they also agreed to the
 * terms.
 */
export async function continueSignIn(
  app: App,
  token: string | undefined,
  guest: Guest,
  termsAgreed: boolean,
): Promise<Arrival> {
  const vouched = await takeJourney<ConfirmedSignIn>(app, visitDigest(app, guest.visit), token);
  if (!vouched?.identity || !isTheirs(vouched, guest)) throw new ApiError('INVALID_CSRF_TOKEN');
  return settle(app, vouched, guest, termsAgreed);
}
