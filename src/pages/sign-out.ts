import { html } from '../platform/http/html.ts';
import type { Page } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { closeSession } from '../signin/sessions/sessions.ts';
import { csrfField, layout } from './layout.ts';

export const SIGN_OUT_PATH = '/sign-out';

export const signOutPage: Page = {
  id: 'page-sign-out',
  path: SIGN_OUT_PATH,
  limit: 30,
  get: (app, { language, csrf }) => ({
    status: 200,
    html: layout(app, language, {
      title: localise('page_sign_out', language),
      body: html`<p class="faint">${localise('page_sign_out_lead', language)}</p>
<form method="post" action="${SIGN_OUT_PATH}">
${csrfField(csrf)}
<div class="actions"><button>${localise('page_sign_out', language)}</button></div>
</form>`,
    }),
  }),
  post: async (app, { language, session }) => {
    if (session) await closeSession(app, session);
    const title = localise('page_signed_out_title', language);
    return { status: 200, session: null, html: layout(app, language, { title, body: html`` }) };
  },
};
