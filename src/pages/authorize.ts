import type { App } from '../platform/app.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import { type Html, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { localise, type TextName } from '../platform/localisation/texts.ts';
import {
  type AuthorizationRequest,
  allowAuthorization,
  type ConsentRequest,
  denyAuthorization,
  type ReturnedError,
  reviewAuthorization,
} from '../signin/oauth/authorization.ts';
import { findSession, type OpenSession } from '../signin/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';
import { originOf } from './origin.ts';
import { signInAddress } from './paths.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';

const PARAMETERS = ['client_id', 'redirect_uri', 'grant_type', 'response_type', 'scope', 'state'];
const PKCE_PARAMETERS = ['code_challenge', 'code_challenge_method'];

/** A repeated parameter is reported and not used (RFC 6749, section 3.1). */
function askedBy({ search, language }: PageRequest): AuthorizationRequest {
  const query = new URLSearchParams(search);
  const names = [...PARAMETERS, ...PKCE_PARAMETERS];
  const once = names.filter((name) => query.getAll(name).length === 1);
  return {
    parameters: Object.fromEntries(once.map((name) => [name, query.get(name)!])),
    repeated: names.filter((name) => query.getAll(name).length > 1),
    language,
  };
}

/** The validated request and the session, or a redirect to the sign-in page or the client. */
async function review(
  app: App,
  request: PageRequest,
): Promise<{ consent: ConsentRequest; session: OpenSession } | { answer: PageAnswer }> {
  const reviewed = await reviewAuthorization(app, askedBy(request));
  if (reviewed.kind === 'returned')
    return {
      answer: reviewed.isAutomatic ? { status: 302, location: reviewed.location } : returnPage(app, request, reviewed),
    };
  const session = await findSession(app, request.session);
  if (session) return { consent: reviewed, session };
  const search = request.search.replace(/[^\x21-\x5b\x5d-\x7e]/g, encodeURIComponent);
  return { answer: { status: 303, location: signInAddress(`${AUTHORIZE_PATH}?${search}`) } };
}

export const authorizePage: Page = {
  id: 'page-authorize',
  path: AUTHORIZE_PATH,
  limit: 30,
  get: async (app, request) => {
    const reviewed = await review(app, request);
    return 'answer' in reviewed ? reviewed.answer : consentForm(app, request, reviewed.consent, reviewed.session);
  },
  post: async (app, request) => {
    const reviewed = await review(app, request);
    if ('answer' in reviewed) return reviewed.answer;
    const { consent, session } = reviewed;
    const { decision } = request.form;
    // 303, so that no browser resends the form to the client (RFC 9700, section 4.12).
    if (decision === 'deny') return { status: 303, location: denyAuthorization(app, consent, request.language) };
    if (decision !== 'allow') throw new ApiError('OAUTH_INVALID_REQUEST');
    const allGames = request.form['reach'] === ALL_GAMES;
    return { status: 303, location: await allowAuthorization(app, session, consent, { allGames }) };
  },
};

/** The checkbox that grants access to all games. */
const ALL_GAMES = 'all-games';

const scopeText = (scope: string): TextName => (scope === 'write' ? 'page_scope_write' : 'page_scope_read');

const origin = ({ client, game }: Pick<ConsentRequest, 'client' | 'game'>, language: Language): Html =>
  originOf({ ...game, game: game.name, since: client.dateAdded }, language);

function consentForm(app: App, request: PageRequest, consent: ConsentRequest, session: OpenSession): PageAnswer {
  const { language, csrf, search } = request;
  const { client, game, scopes } = consent;
  const target = new URL(consent.redirectUri);
  const page = layout(app, language, {
    title: localise('page_consent_title', language, { client: client.name }),
    body: html`${origin(consent, language)}
<p>${localise('page_consent_lead_in', language, { game: game.name })}</p>
<ul>${scopes.map((scope): Html => html`<li>${localise(scopeText(scope), language)}</li>`)}</ul>
<p class="faint">${localise('page_consent_leads', language, { host: target.host })}</p>
<form method="post" action="${AUTHORIZE_PATH}?${search}">
${csrfField(csrf)}
<label class="choice"><input type="checkbox" name="reach" value="${ALL_GAMES}"> <span>${localise('page_consent_all_games', language, { game: game.name })}</span></label>
<div class="actions">
<button name="decision" value="deny" class="quiet">${localise('page_deny', language)}</button>
<button name="decision" value="allow">${localise('page_allow', language)}</button>
</div>
</form>
<p class="faint">${localise('page_signed_in_as', language, { name: session.username })} · <a href="${SIGN_OUT_PATH}">${localise('page_sign_out', language)}</a></p>`,
  });
  // Browsers apply `form-action` to the whole redirect chain, and the client may redirect further.
  const formTargets = target.protocol === 'https:' ? ['https:'] : ['https:', target.origin];
  return { status: 200, html: page, formTargets };
}

/** Shows the client’s error, with a link back instead of a redirect (RFC 9700, section 4.11.2). */
function returnPage(app: App, { language }: PageRequest, returned: ReturnedError): PageAnswer {
  const { client, error, location } = returned;
  const { host } = new URL(location);
  const page = layout(app, language, {
    title: localise('page_return_title', language, { client: client.name }),
    body: html`${origin(returned, language)}
<p role="alert" class="problem">${errorMessage(error.error, language)}</p>
<p>${localise('page_return_lead', language, { host })}</p>
<p><a class="button quiet" rel="noreferrer nofollow" href="${location}">${localise('page_return', language, { host })}</a></p>`,
  });
  return { status: 400, html: page };
}
