import type { App } from '../platform/app.ts';
import { deferredScript, html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { csrfField, layout } from './layout.ts';
import { SIGN_IN_PATH } from './paths.ts';

const FRAGMENT_SCRIPT_PATH = '/fragment.js';

/**
 * Removes the fragment from the address bar and the history before it is sent. The script also removes the note, which
 * therefore stays whenever the script cannot run, and not only where `noscript` applies.
 */
const SCRIPT = `'use strict';
const { hash, pathname, search } = location;
history.replaceState(null, '', pathname + search);
document.querySelector('.note').hidden = true;
const form = document.querySelector('form');
form.elements.fragment.value = hash.slice(1);
form.submit();
`;

export const fragmentScriptPage: Page = {
  id: 'page-fragment-script',
  path: FRAGMENT_SCRIPT_PATH,
  get: () => ({ status: 200, text: { type: 'text/javascript; charset=utf-8', body: SCRIPT } }),
};

/** Submits the fragment of the address, which browsers do not send to servers. It needs a script. */
export function fragmentPage(app: App, request: PageRequest, path: string, portal: string): PageAnswer {
  const { language, csrf, search } = request;
  const page = layout(app, language, {
    title: localise('page_fragment_title', language),
    body: html`<form method="post" action="${search ? `${path}?${search}` : path}">
${csrfField(csrf)}<input type="hidden" name="fragment" value="">
</form>
<p class="note">${localise('page_fragment_script', language, { portal })}</p>
<p><a href="${SIGN_IN_PATH}">${localise('page_sign_in_title', language)}</a></p>
${deferredScript(FRAGMENT_SCRIPT_PATH)}`,
  });
  return { status: 200, html: page, hasScript: true };
}
