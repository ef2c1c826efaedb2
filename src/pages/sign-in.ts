import { z } from 'zod';
import type { App } from '../platform/app.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import { type Html, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { requestPageCode, type Visitor } from '../signin/mailed-codes/signing-in.ts';
import { beginJourney, mayRedirect, type Offer, webPortalsOf } from '../signin/portals/web/signing-in.ts';
import { findSession, openSession, SESSION_SECONDS, visitDigest } from '../signin/sessions/sessions.ts';
import { chosenAddress, type Hint, hintOf, offerText, unavailableText, wasChosen } from './hints.ts';
import { csrfField, layout } from './layout.ts';
import { ACCOUNT_PATH, ownPath, SIGN_IN_PATH, signInAddress } from './paths.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

const Email = z.string().trim().max(254).pipe(z.email());

export const signInPage: Page = {
  id: 'page-sign-in',
  path: SIGN_IN_PATH,
  limit: 10,
  get: async (app, request) => {
    const session = await findSession(app, request.session);
    const back = ownPath(request.query['return']);
    if (session && back) return { status: 303, location: back };
    if (session) return signedIn(app, request, session.username);
    const hint = await hintOf(app, request.query, back);
    const offers = hint.gameId === undefined ? [] : await webPortalsOf(app, hint.gameId);
    const onward = hint.isAuto && (await redirectToPortal(app, request, back, hint, offers));
    return onward ? { status: 303, location: onward } : emailForm(app, request, back, { hint, offers });
  },
  post: async (app, request) => {
    const back = ownPath(request.form['return']);
    const email = Email.safeParse(request.form['email']);
    if (!email.success) {
      const problem = localise('page_email_wrong', request.language);
      return emailForm(app, request, back, { problem, email: request.form['email'] });
    }
    const { code } = request.form;
    return code === undefined
      ? sendCode(app, request, back, email.data)
      : redeemCode(app, request, back, email.data, code);
  },
};

/** `login=auto`: redirects to the portal if the game uses it. */
async function redirectToPortal(
  app: App,
  request: PageRequest,
  back: string | undefined,
  { gameId, portal }: Hint,
  offers: readonly Offer[],
): Promise<string | undefined> {
  if (gameId === undefined || !offers.some((offer) => offer.portal === portal)) return undefined;
  if (!wasChosen(app, request) && !(await mayRedirect(app, gameId))) return undefined;
  return beginJourney(app, { portal: portal!, gameId, back, visit: request.visit });
}

const visitorOf = (app: App, { visit, browser, ip }: PageRequest): Visitor => ({
  visitDigest: visitDigest(app, visit),
  browser,
  ip,
});

async function sendCode(app: App, request: PageRequest, back: string | undefined, email: string): Promise<PageAnswer> {
  await requestPageCode(app, visitorOf(app, request), email, request.language);
  return codeForm(app, request, back, email);
}

async function redeemCode(
  app: App,
  request: PageRequest,
  back: string | undefined,
  email: string,
  code: string,
): Promise<PageAnswer> {
  try {
    const secret = await openSession(
      app,
      { code, language: request.language },
      visitorOf(app, request),
      request.userAgent,
    );
    return { status: 303, location: back ?? SIGN_IN_PATH, session: { secret, seconds: SESSION_SECONDS } };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return codeForm(app, request, back, email, errorMessage(error.error, request.language));
  }
}

const problemText = (problem: string | undefined): Html | undefined =>
  problem === undefined ? undefined : html`<p role="alert" class="problem" id="problem">${problem}</p>`;

const hidden = (name: string, value: string | undefined): Html | undefined =>
  value === undefined ? undefined : html`<input type="hidden" name="${name}" value="${value}">`;

/** Optional parts of the page beside the email form. */
interface Around {
  readonly hint?: Hint;
  readonly offers?: readonly Offer[];
  readonly problem?: string;
  readonly email?: string | undefined;
}

/** Portals are links, so that `form-action` does not block them; the requested one comes first. */
function portalLinks(app: App, request: PageRequest, back: string | undefined, { hint, offers = [] }: Around) {
  if (!hint) return undefined;
  const { language } = request;
  const isWished = ({ portal }: Offer) => portal === hint.portal;
  const ordered = [...offers.filter(isWished), ...offers.filter((offer) => !isWished(offer))];
  const missing = hint.portal !== undefined && !offers.some(isWished);
  const links = ordered.map(
    (offer) =>
      html`<a class="button${isWished(offer) ? '' : ' quiet'}" href="${chosenAddress(app, request, back, hint, offer)}">${offerText(offer, language)}</a>`,
  );
  return html`${missing ? html`<p class="note">${unavailableText(hint.portal!, language)}</p>` : undefined}
${links.length > 0 ? html`<div class="portals">${links}</div><p class="faint">${localise('page_portal_or', language)}</p>` : undefined}`;
}

function emailForm(app: App, request: PageRequest, back: string | undefined, around: Around): PageAnswer {
  const { language, csrf } = request;
  const { problem, email = '' } = around;
  const page = layout(app, language, {
    title: localise('page_sign_in_title', language),
    body: html`${portalLinks(app, request, back, around)}
<p class="faint">${localise('page_sign_in_lead', language)}</p>
${problemText(problem)}
<form method="post" action="${SIGN_IN_PATH}">
${csrfField(csrf)}${hidden('return', back)}
<label for="email">${localise('page_email', language)}</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"${problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined} autofocus>
<div class="actions"><button>${localise('page_send_code', language)}</button></div>
</form>`,
  });
  return { status: problem === undefined ? 200 : 422, html: page };
}

function codeForm(
  app: App,
  { language, csrf }: PageRequest,
  back: string | undefined,
  email: string,
  problem?: string,
): PageAnswer {
  const again = back === undefined ? SIGN_IN_PATH : signInAddress(back);
  const page = layout(app, language, {
    title: localise('page_code_title', language),
    body: html`<p class="faint">${localise('page_code_lead', language, { email })}</p>
${problemText(problem)}
<form method="post" action="${SIGN_IN_PATH}">
${csrfField(csrf)}${hidden('return', back)}${hidden('email', email)}
<label for="code">${localise('page_code', language)}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" required minlength="5" maxlength="10"${problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined} autofocus>
<div class="actions"><button>${localise('page_sign_in_title', language)}</button></div>
</form>
<p><a href="${again}">${localise('page_code_again', language)}</a></p>`,
  });
  return { status: problem === undefined ? 200 : 422, html: page };
}

function signedIn(app: App, { language }: PageRequest, name: string): PageAnswer {
  const page = layout(app, language, {
    title: localise('page_signed_in_title', language),
    body: html`<p>${localise('page_signed_in_as', language, { name })}</p>
<p><a href="${ACCOUNT_PATH}">${localise('page_account_title', language)}</a></p>
<p><a href="${SIGN_OUT_PATH}">${localise('page_sign_out', language)}</a></p>`,
  });
  return { status: 200, html: page };
}
