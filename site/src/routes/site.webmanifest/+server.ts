import { json } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { RequestEvent } from './$types';

const SHORT_CHARACTERS = 12;
/** `--page` of `tokens.css`. */
const PAGE = '#f6f7f9';

/** For visitors who put the site beside their applications (w3.org/TR/appmanifest). */
export async function GET(event: RequestEvent): Promise<Response> {
  const { name, summary, icon, colors } = await apiOf(event).call('GET /site');
  const pictures = icon
    ? ([
        ['64x64', icon.thumb_64x64],
        ['128x128', icon.thumb_128x128],
        ['256x256', icon.thumb_256x256],
      ] as const)
    : [];
  return json(
    {
      id: '/',
      name,
      ...(name.length <= SHORT_CHARACTERS && { short_name: name }),
      ...(summary && { description: summary }),
      start_url: '/',
      display: 'browser',
      background_color: PAGE,
      theme_color: colors.light.accent,
      icons:
        pictures.length > 0
          ? pictures.map(([sizes, src]) => ({ src, sizes, type: 'image/png' }))
          : [{ src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' }],
    },
    { headers: { 'content-type': 'application/manifest+json', 'cache-control': 'private, max-age=300' } },
  );
}
