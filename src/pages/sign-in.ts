import { z } from 'zod';
import type { App } from '../context.ts';
import { ApiError } from '../errors/catalogue.ts';
import { errorMessage } from '../errors/messages.ts';
import { type Html, html } from '../http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../http/pages.ts';
import { say } from '../localisation/texts.ts';
import { PAGES, requestEmailCode } from '../resources/accounts/accounts.ts';
import { findSession, openSession, SESSION_SECONDS, visitDigest } from '../resources/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

const SIGN_IN_PATH = '/sign-in';
const Email = z.string().trim().max(254).pipe(z.email());

/** The address of the sign-in page, which leads back to a page of this site. */
export const signInAddress = (path: string): string => `${SIGN_IN_PATH}?${new URLSearchParams({ return: path })}`;

/** A path of this site and nothing that a browser could take for another one's address. */
function ownPath(path: string | undefined): string | undefined {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : undefined;
}

export const signInPage: Page = {
  id: 'page-sign-in',
  path: SIGN_IN_PATH,
  limit: 10,
  get: async (app, request) => {
    const session = await findSession(app, request.session);
    const back = ownPath(request.query['return']);
    if (session && back) return { status: 303, location: back };
    return session ? signedIn(app, request, session.username) : emailForm(app, request, back);
  },
  post: async (app, request) => {
    const back = ownPath(request.form['return']);
    const email = Email.safeParse(request.form['email']);
    if (!email.success)
      return emailForm(app, request, back, say('page_email_wrong', request.language), request.form['email']);
    const { code } = request.form;
    return code === undefined
      ? sendCode(app, request, back, email.data)
      : redeemCode(app, request, back, email.data, code);
  },
};

async function sendCode(app: App, request: PageRequest, back: string | undefined, email: string): Promise<PageAnswer> {
  await requestEmailCode(app, PAGES, email, visitDigest(app, request.visit), request.language);
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
    const secret = await openSession(app, code, request);
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

function emailForm(
  app: App,
  { language, csrf }: PageRequest,
  back: string | undefined,
  problem?: string,
  email = '',
): PageAnswer {
  const page = layout(app, language, {
    title: say('page_sign_in_title', language),
    body: html`<p class="faint">${say('page_sign_in_lead', language)}</p>
${problemText(problem)}
<form method="post" action="${SIGN_IN_PATH}">
${csrfField(csrf)}${hidden('return', back)}
<label for="email">${say('page_email', language)}</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"${problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined} autofocus>
<div class="actions"><button>${say('page_send_code', language)}</button></div>
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
    title: say('page_code_title', language),
    body: html`<p class="faint">${say('page_code_lead', language, { email })}</p>
${problemText(problem)}
<form method="post" action="${SIGN_IN_PATH}">
${csrfField(csrf)}${hidden('return', back)}${hidden('email', email)}
<label for="code">${say('page_code', language)}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" required minlength="5" maxlength="10"${problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined} autofocus>
<div class="actions"><button>${say('page_sign_in_title', language)}</button></div>
</form>
<p><a href="${again}">${say('page_code_again', language)}</a></p>`,
  });
  return { status: problem === undefined ? 200 : 422, html: page };
}

function signedIn(app: App, { language }: PageRequest, name: string): PageAnswer {
  const page = layout(app, language, {
    title: say('page_signed_in_title', language),
    body: html`<p>${say('page_signed_in_as', language, { name })}</p>
<p><a href="${SIGN_OUT_PATH}">${say('page_sign_out', language)}</a></p>`,
  });
  return { status: 200, html: page };
}
