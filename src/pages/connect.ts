import type { App } from '../platform/app.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import { type Html, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { decideDeviceLogin, type OpenDeviceLogin, requireOpenDeviceLogin } from '../signin/devices/devices.ts';
import { findSession, type OpenSession } from '../signin/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';
import { originOf } from './origin.ts';
import { signInAddress } from './paths.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

const CONNECT_PATH = '/connect';
const CODE = /^[A-Z2-9]{5}$/;

/** Codes are accepted in any case, with spaces or hyphens. */
const spelled = (code: string | undefined): string => (code ?? '').replace(/[\s-]/g, '').toUpperCase().slice(0, 10);

/**
 * Admits a device that shows a code. Only a signed-in user’s form, which is rate-limited, reveals whether a code
 * exists; otherwise codes could be guessed.
 */
export const connectPage: Page = {
  id: 'page-connect',
  path: CONNECT_PATH,
  limit: 10,
  get: (app, request) => codeForm(app, request, spelled(request.query['code'])),
  post: async (app, request) => {
    const code = spelled(request.form['code']);
    const session = await findSession(app, request.session);
    if (!session) return { status: 303, location: signInAddress(`${CONNECT_PATH}?code=${encodeURIComponent(code)}`) };
    try {
      return await decide(app, request, session, code);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      return codeForm(app, request, code, error);
    }
  },
};

async function decide(app: App, request: PageRequest, session: OpenSession, code: string): Promise<PageAnswer> {
  if (!CODE.test(code)) throw new ApiError('DEVICE_LOGIN_CODE_INVALID');
  const { decision } = request.form;
  if (decision !== 'allow' && decision !== 'deny')
    return confirmForm(app, request, session, code, await requireOpenDeviceLogin(app, code));
  await decideDeviceLogin(app, session.user_id, code, decision === 'allow');
  return decided(app, request, decision === 'allow');
}

const reference = (error: ApiError, { language }: PageRequest): Html =>
  html`<p role="alert" class="problem" id="problem">${errorMessage(error.error, language, error.values)}</p>
<p class="faint">${localise('page_error_reference', language, { ref: error.ref })}</p>`;

function codeForm(app: App, request: PageRequest, code: string, problem?: ApiError): PageAnswer {
  const { language, csrf } = request;
  const page = layout(app, language, {
    title: localise('page_connect_title', language),
    body: html`<p class="faint">${localise('page_connect_lead', language)}</p>
${problem && reference(problem, request)}
<form method="post" action="${CONNECT_PATH}">
${csrfField(csrf)}
<label for="code">${localise('page_connect_code', language)}</label>
<input id="code" name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" required minlength="5" maxlength="10" value="${code}"${problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined} autofocus>
<div class="actions"><button>${localise('page_continue', language)}</button></div>
</form>`,
  });
  return { status: problem?.status ?? 200, html: page };
}

function confirmForm(
  app: App,
  { language, csrf }: PageRequest,
  session: OpenSession,
  code: string,
  login: OpenDeviceLogin,
): PageAnswer {
  const page = layout(app, language, {
    title: localise('page_connect_confirm_title', language),
    body: html`${originOf({ ...login, since: login.clientSince }, language)}
<p>${localise('page_connect_confirm_lead', language, { code, game: login.client ?? login.game })}</p>
<p>${localise('page_consent_lead', language)}</p>
<ul>${login.scopes.map((scope) => html`<li>${localise(scope === 'write' ? 'page_scope_write' : 'page_scope_read', language)}</li>`)}</ul>
<p><strong>${localise('page_connect_warning', language)}</strong></p>
<form method="post" action="${CONNECT_PATH}">
${csrfField(csrf)}<input type="hidden" name="code" value="${code}">
<div class="actions">
<button name="decision" value="deny" class="quiet">${localise('page_deny', language)}</button>
<button name="decision" value="allow">${localise('page_allow', language)}</button>
</div>
</form>
<p class="faint">${localise('page_signed_in_as', language, { name: session.username })} · <a href="${SIGN_OUT_PATH}">${localise('page_sign_out', language)}</a></p>`,
  });
  return { status: 200, html: page };
}

function decided(app: App, { language }: PageRequest, isAllowed: boolean): PageAnswer {
  const title = localise(isAllowed ? 'page_connect_done_title' : 'page_connect_denied_title', language);
  const lead = isAllowed ? html`<p>${localise('page_connect_done_lead', language)}</p>` : html``;
  return { status: 200, html: layout(app, language, { title, body: lead }) };
}
