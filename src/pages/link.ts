import type { App } from '../platform/app.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import { type Html, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { PORTAL_NAMES } from '../platform/vocabulary/game-platforms.ts';
import type { AccountRow } from '../signin/portals/accounts.ts';
import { connectionsOf, unlinkAccount } from '../signin/portals/linking.ts';
import { beginJourney, type Offer, portalNamed, webPortalsOf } from '../signin/portals/web/signing-in.ts';
import { findSession, type OpenSession } from '../signin/sessions/sessions.ts';
import { hintOf } from './hints.ts';
import { csrfField, layout } from './layout.ts';
import { ACCOUNT_PATH, signInAddress } from './paths.ts';
import { SIGN_OUT_PATH } from './sign-out.ts';

const LINK_PATH = `${ACCOUNT_PATH}/link`;

/**
 * Shows the linked portals, and with `?game=` those that can be linked. Linking starts with a form, so that another
 * site cannot start it, and leaves the site, so it is no page of the site's own.
 */
export const linkPage: Page = {
  id: 'page-account-link',
  path: LINK_PATH,
  limit: 10,
  get: async (app, request) => {
    const session = await findSession(app, request.session);
    return session ? linkForm(app, request, session) : toSignIn(request);
  },
  post: async (app, request) => {
    const session = await findSession(app, request.session);
    if (!session) return toSignIn(request);
    try {
      return await change(app, request, session);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      return linkForm(app, request, session, error);
    }
  },
};

const HINTS = ['game', 'portal', 'login'];

const addressOf = ({ query }: PageRequest): string => {
  const { game } = query;
  return game === undefined ? LINK_PATH : `${LINK_PATH}?${new URLSearchParams({ game })}`;
};

/** Passes the sign-in hints of this page on to the sign-in page. */
function toSignIn(request: PageRequest): PageAnswer {
  const said = Object.entries(request.query).filter(([name]) => HINTS.includes(name)) as [string, string][];
  const address = said.length > 0 ? `${LINK_PATH}?${new URLSearchParams(said)}` : LINK_PATH;
  return { status: 303, location: signInAddress(address) };
}

async function change(app: App, request: PageRequest, session: OpenSession): Promise<PageAnswer> {
  const { link, unlink } = request.form;
  if (unlink !== undefined) {
    await unlinkAccount(app, session.user_id, Number(unlink));
    return { status: 303, location: addressOf(request) };
  }
  const { gameId } = await hintOf(app, request.query, undefined);
  const portal = portalNamed(link ?? '');
  if (!portal || gameId === undefined) throw new ApiError('USER_CONNECTION_NOT_FOUND');
  const { visit } = request;
  const onward = await beginJourney(app, { portal, gameId, visit, back: addressOf(request), userId: session.user_id });
  if (!onward) throw new ApiError('USER_CONNECTION_NOT_FOUND');
  return { status: 303, location: onward };
}

const linkedName = ({ portal }: AccountRow): string => PORTAL_NAMES[portal] ?? 'SSO';

const offeredName = ({ portal, host }: Offer, language: Language): string =>
  portal === 'sso' ? localise('page_account_studio', language, { host }) : (PORTAL_NAMES[portal] ?? portal);

async function linkForm(app: App, request: PageRequest, session: OpenSession, problem?: ApiError): Promise<PageAnswer> {
  const { language, csrf } = request;
  const accounts = await connectionsOf(app, { userId: session.user_id });
  const { gameId } = await hintOf(app, request.query, undefined);
  const offers = gameId === undefined ? [] : await webPortalsOf(app, gameId);
  const isFree = (offer: Offer) => !accounts.some((account) => isTaken(account, offer));
  const open = offers.filter(isFree);
  const form = (button: Html) =>
    html`<form method="post" action="${addressOf(request)}">${csrfField(csrf)}${button}</form>`;
  const page = layout(app, language, {
    title: localise('page_account_links', language),
    body: html`<p class="faint">${localise('page_signed_in_as', language, { name: session.username })} · <a href="${SIGN_OUT_PATH}">${localise('page_sign_out', language)}</a></p>
${
  problem &&
  html`<p role="alert" class="problem">${errorMessage(problem.error, language, problem.values)}</p>
<p class="faint">${localise('page_error_reference', language, { ref: problem.ref })}</p>`
}
${accounts.length === 0 ? html`<p>${localise('page_account_none', language)}</p>` : undefined}
<ul>${accounts.map(
      (account) => html`<li>${linkedName(account)}${account.display_name && ` · ${account.display_name}`}
${form(html`<button name="unlink" value="${account.id}" class="quiet">${localise('page_account_unlink', language, { portal: linkedName(account) })}</button>`)}</li>`,
    )}</ul>
${open.map((offer) =>
  form(
    html`<div class="actions"><button name="link" value="${offer.portal}">${localise('page_account_link', language, { portal: offeredName(offer, language) })}</button></div>`,
  ),
)}
<p><a href="${ACCOUNT_PATH}/connections">${localise('page_account_title', language)}</a></p>`,
  });
  // Browsers apply `form-action` to the whole redirect chain, and portals redirect further.
  return { status: problem?.status ?? 200, html: page, ...(open.length > 0 && { formTargets: ['https:'] }) };
}

/** A portal with ids per game can be linked once in each game. */
const isTaken = ({ portal, game_id }: AccountRow, offer: Offer): boolean =>
  portal === offer.portal && game_id === offer.place;
