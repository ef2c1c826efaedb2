import type { RequestEvent } from './$types';

const HIDDEN = ['/v1/', '/sign-in', '/account', '/report', '/embed/', '/oembed'];

/** The sandbox is no place for search engines. */
export function GET({ platform }: RequestEvent): Response {
  const { origin, environment } = platform!;
  const rules = environment === 'sandbox' ? ['/'] : HIDDEN;
  const lines = ['User-agent: *', ...rules.map((path) => `Disallow: ${path}`), `Sitemap: ${origin}/sitemap.xml`, ''];
  return new Response(lines.join('\n'), {
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=3600' },
  });
}
