import { findGameNamed } from '../catalogue/games/games.ts';
import type { App } from '../platform/app.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import type { PageRequest, Texts } from '../platform/http/pages.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { type LinkedPortal, PORTAL_NAMES } from '../platform/vocabulary/game-platforms.ts';
import { gameOfClient } from '../signin/oauth/clients.ts';
import { type Offer, portalNamed } from '../signin/portals/web/signing-in.ts';
import { SIGN_IN_PATH } from './paths.ts';

/** How the user wants to sign in, from the address: `?portal=steam&login=auto`. */
export interface Hint {
  /** The game whose portals are meant. */
  readonly gameId: number | undefined;
  readonly portal: LinkedPortal | undefined;
  readonly isAuto: boolean;
}

const ID = /^[1-9]\d{0,14}$/;
const GAME_PAGE = /^\/g\/([^/]{1,100})(?:\/|$)/;

/** Reads the hint from the address of the sign-in page, or from its return address. */
export async function hintOf(app: App, query: Texts, back: string | undefined): Promise<Hint> {
  const target = new URL(back ?? '/', app.addresses.site);
  const said = (name: string) => query[name] ?? target.searchParams.get(name) ?? undefined;
  return {
    gameId: await gameOfHint(app, said('game') ?? said('game_id'), target),
    portal: portalNamed(said('portal') ?? ''),
    isAuto: said('login') === 'auto',
  };
}

/** The game that is named, whose page is requested, or whose application requests access. */
async function gameOfHint(app: App, named: string | undefined, target: URL): Promise<number | undefined> {
  const name = named ?? GAME_PAGE.exec(target.pathname)?.[1];
  if (name !== undefined) return ID.test(name) ? Number(name) : findGameNamed(app, name);
  const client = target.searchParams.get('client_id') ?? '';
  return ID.test(client) ? gameOfClient(app, Number(client)) : undefined;
}

const CHOSEN = 'portals/chosen';

/** The address of the sign-in page that redirects to this portal without another click. */
export function chosenAddress(
  app: App,
  { visit }: PageRequest,
  back: string | undefined,
  { gameId }: Hint,
  { portal }: Offer,
): string {
  const name = portal === 'sso' ? 'studio' : portal;
  const chosen = app.secrets.sign(CHOSEN, visit);
  const query = { game: String(gameId), portal: name, login: 'auto', chosen, ...(back && { return: back }) };
  return `${SIGN_IN_PATH}?${new URLSearchParams(query)}`;
}

/** Whether the sign-in page of this browser made the link; other sites cannot forge it. */
export const wasChosen = (app: App, { visit, query }: PageRequest): boolean =>
  app.secrets.verify(CHOSEN, visit, query['chosen'] ?? '');

/** A studio has no name that players know, so the host is shown instead. */
export const offerText = ({ portal, host }: Offer, language: Language): string =>
  portal === 'sso'
    ? localise('page_portal_studio', language, { host })
    : localise('page_portal_continue', language, { portal: PORTAL_NAMES[portal] ?? portal });

export const unavailableText = (portal: LinkedPortal, language: Language): string =>
  portal === 'sso'
    ? errorMessage('STUDIO_OAUTH_NOT_CONFIGURED', language)
    : localise('page_portal_unavailable', language, { portal: PORTAL_NAMES[portal] ?? portal });
