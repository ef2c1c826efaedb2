import type { App } from '../app.ts';
import { Html, html } from './html.ts';

/** The text of a page at `/legal/`; its HTML was sanitised when it was stored. */
export type FindLegalText = (
  app: App,
  page: string,
) => Promise<{ readonly name: string; readonly description: string } | undefined>;

export const LEGAL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https:; frame-ancestors 'none'; base-uri 'none'";
const STYLE = new Html(
  'body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8cf}}',
);

/** The page, if there is one. `no_links=true` removes all links, as consoles require. */
export async function legalPage(
  app: App,
  page: string,
  search: string,
  find: FindLegalText,
): Promise<string | undefined> {
  const text = await find(app, page);
  if (!text) return undefined;
  const withoutLinks = new URLSearchParams(search).get('no_links') === 'true';
  const body = withoutLinks ? text.description.replace(/<\/?a\b[^>]*>/g, '') : text.description;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text.name}</title><style>${STYLE}</style></head>
<body><main><h1>${text.name}</h1>
${new Html(body)}
</main></body></html>
`.text;
}
