import {
  CONFIRM_PATH,
  circumstancesOf,
  confirmRelease,
  findRelease,
  isOfNewcomer,
  type ReleaseDetails,
  refuseRelease,
} from '../files/releases/releases.ts';
import type { App } from '../platform/app.ts';
import { html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise, type TextName } from '../platform/localisation/texts.ts';
import { findSession } from '../signin/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';

const readerOf = async (app: App, request: PageRequest): Promise<number | undefined> =>
  (await findSession(app, request.session))?.user_id;

/** Asks for a confirmation, because mail scanners open links and must not release anything. */
export const releasePage: Page = {
  id: 'page-release',
  path: CONFIRM_PATH,
  limit: 30,
  get: async (app, request) => {
    const secret = request.query['token'] ?? '';
    const release = await findRelease(app, secret, await readerOf(app, request));
    return release ? question(app, request, secret, release) : invalidLink(app, request);
  },
  post: async (app, request) => {
    const { token = '', decision } = request.form;
    const readerId = await readerOf(app, request);
    if (decision === 'confirm' && (await confirmRelease(app, token, readerId)))
      return messagePage(app, request, 'page_release_done_title', 'page_release_done_lead');
    if (decision === 'refuse' && (await refuseRelease(app, token, readerId)))
      return { ...messagePage(app, request, 'page_release_refused_title', 'page_release_refused_lead'), session: null };
    return invalidLink(app, request);
  },
};

function question(app: App, { language, csrf }: PageRequest, secret: string, release: ReleaseDetails): PageAnswer {
  const { file, actor, date, address, access } = circumstancesOf(release);
  const facts: [TextName, string][] = [
    ['page_release_file', file],
    ['page_release_mod', release.mod],
    ['page_release_game', release.game],
    ['page_release_actor', actor],
    ['page_release_date', date],
    ['page_release_address', address],
    ['page_release_access', access],
  ];
  const page = layout(app, language, {
    title: localise('page_release_title', language),
    body: html`<p>${localise('page_release_lead', language)}</p>
<ul>${facts.map(([name, value]) => html`<li>${localise(name, language)}: <strong>${value}</strong></li>`)}</ul>
${isOfNewcomer(release) ? html`<p class="note">${localise('page_release_newcomer', language, { actor })}</p>` : undefined}
<form method="post" action="${CONFIRM_PATH}">
${csrfField(csrf)}<input type="hidden" name="token" value="${secret}">
<p class="faint">${localise('page_release_warning', language)}</p>
<div class="actions">
<button name="decision" value="refuse" class="quiet">${localise('page_release_refuse', language)}</button>
<button name="decision" value="confirm">${localise('page_release_confirm', language)}</button>
</div>
</form>`,
  });
  return { status: 200, html: page };
}

function messagePage(app: App, { language }: PageRequest, title: TextName, lead: TextName): PageAnswer {
  const body = html`<p>${localise(lead, language)}</p>`;
  return { status: 200, html: layout(app, language, { title: localise(title, language), body }) };
}

/** Used, expired, forged and foreign links get the same answer. */
const invalidLink = (app: App, request: PageRequest): PageAnswer => ({
  ...messagePage(app, request, 'page_release_outdated_title', 'page_release_outdated_lead'),
  status: 404,
});
