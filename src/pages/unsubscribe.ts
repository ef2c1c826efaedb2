import { optOut, requireOptOut } from '../people/mailings/mailings.ts';
import type { App } from '../platform/app.ts';
import { html } from '../platform/http/html.ts';
import type { Page, PageRequest } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { findSession } from '../signin/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';

const PATH = '/unsubscribe';

const readerOf = async (app: App, request: PageRequest): Promise<number | undefined> =>
  (await findSession(app, request.session))?.user_id;

/** Asks for a confirmation, because mail scanners open links and must not unsubscribe anyone. */
export const unsubscribePage: Page = {
  id: 'page-unsubscribe',
  path: PATH,
  limit: 30,
  get: async (app, request) => {
    const { language, csrf, query } = request;
    const hash = query['hash'] ?? '';
    await requireOptOut(app, await readerOf(app, request), hash);
    return {
      status: 200,
      html: layout(app, language, {
        title: localise('page_opt_out_title', language),
        body: html`<p>${localise('page_opt_out_lead', language)}</p>
<form method="post" action="${PATH}">
${csrfField(csrf)}<input type="hidden" name="hash" value="${hash}">
<div class="actions"><button>${localise('page_opt_out_button', language)}</button></div>
</form>`,
      }),
    };
  },
  post: async (app, request) => {
    await optOut(app, await readerOf(app, request), request.form['hash'] ?? '');
    return done(app, request);
  },
  oneClick: async (app, request) => {
    await optOut(app, undefined, request.query['hash'] ?? '');
    return done(app, request);
  },
};

const done = (app: App, { language }: PageRequest) => ({
  status: 200,
  html: layout(app, language, { title: localise('page_opt_out_done_title', language), body: html`` }),
});
