import { xml } from './feeds.ts';

/** Addresses in one sitemap; the protocol allows 50,000, but each part is read from the API. */
export const ADDRESSES_MAX = 1_000;
/** The most that one call of the API lists. */
export const PER_CALL = 100;

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';
const SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

export interface Listed {
  readonly address: string;
  /** Seconds since 1970. */
  readonly updated?: number | undefined;
}

const line =
  (element: string) =>
  ({ address, updated }: Listed) =>
    `<${element}><loc>${xml(address)}</loc>${updated ? `<lastmod>${new Date(updated * 1000).toISOString()}</lastmod>` : ''}</${element}>\n`;

const answer = (body: string) =>
  new Response(HEAD + body, {
    headers: { 'content-type': 'application/xml; charset=utf-8', 'cache-control': 'private, max-age=600' },
  });

export const indexResponse = (listed: readonly Listed[]): Response =>
  answer(`<sitemapindex ${SPACE}>\n${listed.map(line('sitemap')).join('')}</sitemapindex>\n`);

export const sitemapResponse = (listed: readonly Listed[]): Response =>
  answer(`<urlset ${SPACE}>\n${listed.map(line('url')).join('')}</urlset>\n`);
