import { consentDialog } from '../people/agreements/dialog.ts';
import { styleUrlOf } from '../people/site/object.ts';
import { type Look, lookOf, OWN_LOOK } from '../people/site/site.ts';
import type { App } from '../platform/app.ts';
import type { ApiError } from '../platform/errors/catalogue.ts';
import { errorMessage } from '../platform/errors/messages.ts';
import { type Html, html } from '../platform/http/html.ts';
import { type Language, shownLanguage } from '../platform/localisation/languages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { STYLE_PATH } from './style.ts';

export interface Content {
  readonly title: string;
  readonly body: Html;
}

const MARK = html`<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7"></rect><path d="M7 23V11.5L16 6l9 5.5V23h-5.5v-6.5L16 19l-3.5-2.5V23Z"></path></svg>`;

/** The frame of every page: the header and footer of the site around one card, in the browser’s light or dark scheme. */
export const layout = async (app: App, language: Language, content: Content): Promise<Html> =>
  framed(app, await lookOf(app.db), language, content);

function framed(app: App, look: Look, language: Language, { title, body }: Content): Html {
  const { name, icon } = look;
  const style = styleUrlOf(app, look);
  const picture = icon && `/files/${icon}/thumb_64x64.png`;
  const own = [
    ...(style ? [html`<link rel="stylesheet" href="${style}">`] : []),
    ...(picture ? [html`<link rel="icon" href="${picture}">`] : []),
  ];
  const sign = picture ? html`<img src="${picture}" alt="" width="26" height="26">` : MARK;
  const isSandbox = app.environment === 'sandbox';
  const shown = shownLanguage(language);
  const { terms, privacy } = consentDialog(app, shown).links;
  return html`<!doctype html>
<html lang="${shown}" dir="${shown === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · ${name}</title>
<link rel="stylesheet" href="${STYLE_PATH}">${own}
</head>
<body>
<header class="top"><div class="inside"><a class="brand" href="/">${sign}<span>${name}</span></a>${isSandbox ? html` <span class="badge">${localise('page_sandbox', language)}</span>` : undefined}</div></header>
<div class="middle">
<main>
<h1>${title}</h1>
${body}
</main>
</div>
<footer class="bottom"><div class="inside"><a href="${terms.url}">${terms.text}</a><a href="${privacy.url}">${privacy.text}</a></div></footer>
</body>
</html>`;
}

/** An error page never redirects. It is shown even if the look of the site cannot be read. */
export async function errorPage(app: App, error: ApiError, language: Language, anew?: string): Promise<Html> {
  const look = error.status >= 500 ? OWN_LOOK : await lookOf(app.db).catch(() => OWN_LOOK);
  return framed(app, look, language, {
    title: localise('page_error_title', language),
    body: html`<p role="alert" class="problem">${errorMessage(error.error, language, error.values)}</p>
<p class="faint">${localise('page_error_reference', language, { ref: error.ref })}</p>
${anew && html`<p><a href="${anew}">${localise('page_sign_in_title', language)}</a></p>`}`,
  });
}

/** The CSRF token of a form. */
export const csrfField = (token: string): Html => html`<input type="hidden" name="csrf" value="${token}">`;
