import { html } from '../platform/http/html.ts';
import type { Page } from '../platform/http/pages.ts';
import type { TextName } from '../platform/localisation/texts.ts';
import { localise } from '../platform/localisation/texts.ts';
import { layout } from './layout.ts';
import { ACCOUNT_PATH } from './paths.ts';

interface Widget {
  readonly name: string;
  readonly title: TextName;
  readonly lead: TextName;
}

/** Pages that SDKs open in a browser (docs/API-QUIRKS.md, 38). They explain the feature and link to the next step. */
const WIDGETS: readonly Widget[] = [
  { name: 'age-gate', title: 'page_widget_age_title', lead: 'page_widget_age_lead' },
  { name: 'airwallex', title: 'page_widget_payout_title', lead: 'page_widget_payout_lead' },
  { name: 'tilia', title: 'page_widget_payout_title', lead: 'page_widget_payout_lead' },
];

export const widgetPages: readonly Page[] = WIDGETS.map(({ name, title, lead }) => ({
  id: `page-widget-${name}`,
  path: `/widgets/${name}`,
  get: (app, { language }) => ({
    status: 200,
    html: layout(app, language, {
      title: localise(title, language),
      body: html`<p>${localise(lead, language)}</p>
<p>${localise('page_widget_back', language)}</p>
<p><a href="${ACCOUNT_PATH}">${localise('page_account_title', language)}</a></p>`,
    }),
  }),
}));
