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

/** The frame of every page: one card, in the browser’s light or dark scheme. */
export function layout(app: App, language: Language, { title, body }: Content): Html {
  const isSandbox = app.environment === 'sandbox';
  return html`<!doctype html>
<html lang="${shownLanguage(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Modstead</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<header><span class="brand">Modstead</span>${isSandbox ? html` <span class="badge">${localise('page_sandbox', language)}</span>` : undefined}</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}

/** An error page never redirects. */
export function errorPage(app: App, error: ApiError, language: Language, anew?: string): Html {
  return layout(app, language, {
    title: localise('page_error_title', language),
    body: html`<p role="alert" class="problem">${errorMessage(error.error, language, error.values)}</p>
<p class="faint">${localise('page_error_reference', language, { ref: error.ref })}</p>
${anew && html`<p><a href="${anew}">${localise('page_sign_in_title', language)}</a></p>`}`,
  });
}

/** The CSRF token of a form. */
export const csrfField = (token: string): Html => html`<input type="hidden" name="csrf" value="${token}">`;
