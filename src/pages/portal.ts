import { consentDialog } from '../people/agreements/dialog.ts';
import type { App } from '../platform/app.ts';
import { Html, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { type LinkedPortal, PORTAL_NAMES } from '../platform/vocabulary/game-platforms.ts';
import type { ReturnedAnswer } from '../signin/portals/web/flow.ts';
import {
  type Arrival,
  answersInFragment,
  callbackPath,
  continueSignIn,
  endJourney,
  type Guest,
  requireWebPortal,
  retryPortal,
  WEB_PORTALS,
} from '../signin/portals/web/signing-in.ts';
import { findSession, SESSION_SECONDS } from '../signin/sessions/sessions.ts';
import { fragmentPage } from './fragment.ts';
import { csrfField, layout } from './layout.ts';
import { ACCOUNT_PATH, SIGN_IN_PATH } from './paths.ts';

/** Repeated parameters are ignored, because a proxy could read another of their values. */
function unrepeatedParameters(search: string): Record<string, string | undefined> {
  const query = new URLSearchParams(search);
  const names = [...new Set(query.keys())].filter((name) => query.getAll(name).length === 1);
  return Object.fromEntries(names.map((name) => [name, query.get(name)!]));
}

async function guestOf(app: App, { visit, userAgent, language, session }: PageRequest): Promise<Guest> {
  return { visit, userAgent, language, userId: (await findSession(app, session))?.user_id };
}

/** The query, and the fragment if the portal answers there. */
function returnedAnswer({ search, form }: PageRequest): ReturnedAnswer {
  const { fragment = '' } = form;
  return { query: unrepeatedParameters(`${search}&${fragment}`), fragment };
}

async function arrived(app: App, request: PageRequest, portal: LinkedPortal): Promise<PageAnswer> {
  const guest = await guestOf(app, request);
  return shown(app, request, await endJourney(app, portal, request.id!, returnedAnswer(request), guest));
}

const nameOf = (portal: LinkedPortal): string => PORTAL_NAMES[portal] ?? portal;

/** The page to which a portal redirects. */
const portalPage = (portal: LinkedPortal): Page => ({
  id: `page-sign-in-${portal}`,
  path: callbackPath(portal, '{id}'),
  anew: SIGN_IN_PATH,
  // With an answer in the fragment, one sign-in sends up to three forms.
  limit: answersInFragment(portal) ? 30 : 10,
  get: async (app, request) => {
    if (!answersInFragment(portal)) return arrived(app, request, portal);
    await requireWebPortal(app, portal, request.id!);
    return fragmentPage(app, request, callbackPath(portal, request.id!), nameOf(portal));
  },
  post: async (app, request) => {
    const { decision, token, fragment } = request.form;
    if (decision === 'agree' || decision === 'continue')
      return shown(app, request, await continueSignIn(app, token, await guestOf(app, request), decision === 'agree'));
    if (decision === 'again')
      return shown(app, request, await retryPortal(app, portal, request.id!, token, await guestOf(app, request)));
    if (fragment !== undefined && answersInFragment(portal)) return arrived(app, request, portal);
    return { status: 303, location: SIGN_IN_PATH };
  },
});

function shown(app: App, request: PageRequest, arrival: Arrival): PageAnswer {
  if (arrival.kind === 'terms') return termsForm(app, request, arrival.portal, arrival.token);
  if (arrival.kind === 'waiting') return waitForm(app, request, arrival);
  if (arrival.kind === 'named') return nameForm(app, request, arrival);
  const { back } = arrival;
  if (arrival.kind === 'linked') return { status: 303, location: back ?? ACCOUNT_PATH };
  const session = { secret: arrival.secret, seconds: SESSION_SECONDS };
  return { status: 303, location: back ?? SIGN_IN_PATH, session };
}

function waitForm(app: App, request: PageRequest, { portal, token }: Arrival & { kind: 'waiting' }): PageAnswer {
  const { language, csrf, id } = request;
  const page = layout(app, language, {
    title: localise('page_fragment_title', language),
    body: html`<p>${localise('page_portal_not_yet', language, { portal: nameOf(portal) })}</p>
<form method="post" action="${callbackPath(portal, id!)}">
${csrfField(csrf)}<input type="hidden" name="token" value="${token}">
<div class="actions"><button name="decision" value="again">${localise('page_continue', language)}</button></div>
</form>`,
  });
  return { status: 200, html: page };
}

/** The portal returns no state, so another site could have sent an account of its own. */
function nameForm(app: App, request: PageRequest, arrival: Arrival & { kind: 'named' }): PageAnswer {
  const { language, csrf, id } = request;
  const { portal, name, token, isLinking } = arrival;
  const lead = isLinking ? 'page_named_link' : 'page_named_sign_in';
  const page = layout(app, language, {
    title: localise('page_named_title', language),
    body: html`<p>${localise(lead, language, { portal: nameOf(portal), name })}</p>
<form method="post" action="${callbackPath(portal, id!)}">
${csrfField(csrf)}<input type="hidden" name="token" value="${token}">
<div class="actions">
<button name="decision" value="leave" class="quiet">${localise('page_named_no', language)}</button>
<button name="decision" value="continue">${localise('page_continue', language)}</button>
</div>
</form>`,
  });
  return { status: 200, html: page };
}

/** The account is created only after the user has agreed. */
function termsForm(app: App, request: PageRequest, portal: LinkedPortal, token: string): PageAnswer {
  const { language, csrf, id } = request;
  const { html: text, buttons } = consentDialog(app, language, portal);
  const page = layout(app, language, {
    title: localise('page_terms_title', language),
    body: html`${new Html(text)}
<form method="post" action="${callbackPath(portal, id!)}">
${csrfField(csrf)}<input type="hidden" name="token" value="${token}">
<div class="actions">
<button name="decision" value="disagree" class="quiet">${buttons.disagree.text}</button>
<button name="decision" value="agree">${buttons.agree.text}</button>
</div>
</form>`,
  });
  return { status: 200, html: page };
}

export const portalPages: readonly Page[] = WEB_PORTALS.map(portalPage);
