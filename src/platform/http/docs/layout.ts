import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html, html, inlineScript } from '../html.ts';
import { DOCS_PATH, type DocsModel, type Group } from './model.ts';

const read = (name: string): string => readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');

const STYLE = read('docs.css');
const SEARCH_SCRIPT = read('search.js');
const TRY_SCRIPT = read('try.js');

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows only these inline scripts and this style, and requests to this service only. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${[SEARCH_SCRIPT, TRY_SCRIPT].map(hashOf).join(' ')}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  readonly path: string;
  readonly title: string;
  readonly body: Html;
  readonly tries?: boolean;
}

/** The frame of every page: search, navigation and, on pages with operations, the script of "Try it". */
export function layout({ document, groups }: DocsModel, { path, title, body, tries = false }: Page): string {
  const name = `${document.info.title} API`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === name ? name : `${title} · ${name}`}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${DOCS_PATH}">${name}</a>
<div class="search" role="search" data-index="${DOCS_PATH}/search.json" hidden>
<label class="unseen" for="search">Search operations, fields and errors</label>
<input id="search" type="search" placeholder="Search operations, fields, errors ( / )" autocomplete="off" spellcheck="false" aria-controls="results">
<div id="results" hidden><p role="status"></p><ul></ul></div>
</div>
<a class="file" href="/v1/openapi.json">openapi.json</a>
</header>
<div class="page">
<nav aria-label="Documentation"><details class="menu"><summary>Contents</summary>
<ul>${GUIDE.map(([at, text]) => item(at, text, path))}</ul>
<h2>Operations</h2>
<ul>${groups.map((group) => groupItem(group, path))}</ul>
</details></nav>
<main id="content" tabindex="-1">
${body}
</main>
</div>
${inlineScript(SEARCH_SCRIPT)}
${tries ? inlineScript(TRY_SCRIPT) : ''}
</body>
</html>
`.text;
}

const GUIDE: readonly [path: string, text: string][] = [
  [DOCS_PATH, 'Introduction'],
  [`${DOCS_PATH}/objects`, 'Objects'],
  [`${DOCS_PATH}/errors`, 'Errors'],
];

function item(at: string, text: string, path: string, inner: Html | string = ''): Html {
  const current = at === path ? html` aria-current="page"` : '';
  return html`<li><a href="${at}"${current}>${text}</a>${inner}</li>`;
}

/** The current page also lists its operations. */
function groupItem({ name, slug, entries }: Group, path: string): Html {
  const at = `${DOCS_PATH}/${slug}`;
  const operations = entries.map(
    ({ described }) => html`<li><a href="#${described.operationId}">${described.operationId}</a></li>`,
  );
  return item(at, name, path, at === path ? html`<ul>${operations}</ul>` : '');
}
