import type { App } from '../context.ts';
import { Html, html } from '../http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../http/pages.ts';
import { say } from '../localisation/texts.ts';
import type { LinkedPortal } from '../platforms.ts';
import { consentDialog } from '../resources/agreements/dialog.ts';
import {
  type Arrival,
  agreeAndEnter,
  callbackPath,
  endJourney,
  type Guest,
  WEB_PORTALS,
} from '../resources/portals/web/signing-in.ts';
import { findSession, SESSION_SECONDS } from '../resources/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';
import { ACCOUNT_PATH, SIGN_IN_PATH } from './paths.ts';

/** Each parameter counts only if it was sent once: what is sent twice means one thing here and another elsewhere. */
function sentOnce(search: string): Record<string, string | undefined> {
  const query = new URLSearchParams(search);
  const names = [...new Set(query.keys())].filter((name) => query.getAll(name).length === 1);
  return Object.fromEntries(names.map((name) => [name, query.get(name)!]));
}

async function guestOf(app: App, { visit, userAgent, language, session }: PageRequest): Promise<Guest> {
  return { visit, userAgent, language, userId: (await findSession(app, session))?.user_id };
}

/** Where a portal sends people back to. */
const portalPage = (portal: LinkedPortal): Page => ({
  id: `page-sign-in-${portal}`,
  path: callbackPath(portal, '{id}'),
  anew: SIGN_IN_PATH,
  limit: 10,
  get: async (app, request) =>
    shown(
      app,
      request,
      await endJourney(app, portal, request.id!, sentOnce(request.search), await guestOf(app, request)),
    ),
  post: async (app, request) =>
    request.form['decision'] === 'agree'
      ? shown(app, request, await agreeAndEnter(app, request.form['token'], await guestOf(app, request)))
      : { status: 303, location: SIGN_IN_PATH },
});

function shown(app: App, request: PageRequest, arrival: Arrival): PageAnswer {
  if (arrival.kind === 'asked') return termsForm(app, request, arrival.portal, arrival.token);
  const { back } = arrival;
  if (arrival.kind === 'linked') return { status: 303, location: back ?? ACCOUNT_PATH };
  const session = { secret: arrival.secret, seconds: SESSION_SECONDS };
  return { status: 303, location: back ?? SIGN_IN_PATH, session };
}

/** Consent comes first: until then there is no account. */
function termsForm(app: App, request: PageRequest, portal: LinkedPortal, token: string): PageAnswer {
  const { language, csrf, id } = request;
  const { html: text, buttons } = consentDialog(app, language, portal);
  const page = layout(app, language, {
    title: say('page_terms_title', language),
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
