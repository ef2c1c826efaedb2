import type { App } from '../context.ts';
import { ApiError } from '../errors/catalogue.ts';
import { type Html, html } from '../http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../http/pages.ts';
import { say, type TextName } from '../localisation/texts.ts';
import {
  type Asked,
  type Asking,
  allowAuthorization,
  denyAuthorization,
  reviewAuthorization,
} from '../resources/oauth/authorization.ts';
import { findSession, type OpenSession } from '../resources/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';
import { signInAddress } from './paths.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';

const PARAMETERS = ['client_id', 'redirect_uri', 'grant_type', 'response_type', 'scope', 'state'];
const PKCE_PARAMETERS = ['code_challenge', 'code_challenge_method'];

/** Each parameter counts only if it was sent once (RFC 6749, section 3.1). */
function askedBy({ search }: PageRequest): Asked {
  const query = new URLSearchParams(search);
  const names = [...PARAMETERS, ...PKCE_PARAMETERS].filter((name) => query.getAll(name).length > 0);
  return Object.fromEntries(
    names.map((name) => [name, query.getAll(name).length === 1 ? query.get(name)! : undefined]),
  );
}

const hasRepeated = ({ search }: PageRequest): boolean => {
  const query = new URLSearchParams(search);
  return [...PARAMETERS, ...PKCE_PARAMETERS].some((name) => query.getAll(name).length > 1);
};

/** What was asked for and by whom, or where to go instead. */
async function review(
  app: App,
  request: PageRequest,
): Promise<{ asking: Asking; session: OpenSession } | { answer: PageAnswer }> {
  const asked = askedBy(request);
  // A parameter that is sent twice could mean one thing here and another to whoever looks at the request before.
  const reviewed = await reviewAuthorization(app, hasRepeated(request) ? { ...asked, grant_type: undefined } : asked);
  if (reviewed.kind === 'returned') return { answer: { status: 302, location: reviewed.location } };
  const session = await findSession(app, request.session);
  if (session) return { asking: reviewed, session };
  const search = request.search.replace(/[^\x21-\x5b\x5d-\x7e]/g, encodeURIComponent);
  return { answer: { status: 303, location: signInAddress(`${AUTHORIZE_PATH}?${search}`) } };
}

export const authorizePage: Page = {
  id: 'page-authorize',
  path: AUTHORIZE_PATH,
  limit: 30,
  get: async (app, request) => {
    const reviewed = await review(app, request);
    return 'answer' in reviewed ? reviewed.answer : consentForm(app, request, reviewed.asking, reviewed.session);
  },
  post: async (app, request) => {
    const reviewed = await review(app, request);
    if ('answer' in reviewed) return reviewed.answer;
    const { asking, session } = reviewed;
    const { decision } = request.form;
    if (decision === 'deny') return { status: 302, location: denyAuthorization(app, asking) };
    if (decision !== 'allow') throw new ApiError('OAUTH_INVALID_REQUEST');
    return { status: 302, location: await allowAuthorization(app, session, asking, { allGames: false }) };
  },
};

const scopeText = (scope: string): TextName => (scope === 'write' ? 'page_scope_write' : 'page_scope_read');

function consentForm(app: App, request: PageRequest, asking: Asking, session: OpenSession): PageAnswer {
  const { language, csrf, search } = request;
  const { client, game, scopes } = asking;
  const target = new URL(asking.redirectUri);
  const page = layout(app, language, {
    title: say('page_consent_title', language, { client: client.name }),
    body: html`<img class="icon" src="/files/${game.icon ?? 'placeholder/icon'}/thumb_64x64.png" alt="" width="64" height="64">
${game.name === client.name ? undefined : html`<p class="faint">${say('page_consent_game', language, { game: game.name })}</p>`}
<p>${say('page_consent_lead', language)}</p>
<ul>${scopes.map((scope): Html => html`<li>${say(scopeText(scope), language)}</li>`)}</ul>
<p class="faint">${say('page_consent_leads', language, { host: target.host })}</p>
<form method="post" action="${AUTHORIZE_PATH}?${search}">
${csrfField(csrf)}
<div class="actions">
<button name="decision" value="deny" class="quiet">${say('page_deny', language)}</button>
<button name="decision" value="allow">${say('page_allow', language)}</button>
</div>
</form>
<p class="faint">${say('page_signed_in_as', language, { name: session.username })} · <a href="${SIGN_OUT_PATH}">${say('page_sign_out', language)}</a></p>`,
  });
  // Browsers hold the whole way that a form leads against the policy, and the client may lead on.
  const formTargets = target.protocol === 'https:' ? ['https:'] : ['https:', target.origin];
  return { status: 200, html: page, formTargets };
}
