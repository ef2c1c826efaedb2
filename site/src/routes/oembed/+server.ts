import { error, json } from '@sveltejs/kit';
import { apiOf } from '#api';
import { xml } from '#feeds';
import type { RequestEvent } from './$types';

const CARD = { width: 480, height: 180 };
const MOD = /^\/g\/([^/]+)\/m\/([^/]+)\/?$/;

/** The card of a mod for other sites (oembed.com). */
export async function GET(event: RequestEvent): Promise<Response> {
  const { url, platform } = event;
  const { origin } = platform!;
  if ((url.searchParams.get('format') ?? 'json') !== 'json') error(501, { message: '' });
  const asked = URL.parse(url.searchParams.get('url') ?? '', origin);
  const [, gameName, modName] = (asked?.origin === origin && MOD.exec(asked.pathname)) || [];
  if (!gameName || !modName) error(404, { message: '' });
  const api = apiOf(event);
  const games = await api.call('GET /games', { name_id: decoded(gameName), _limit: 1 });
  const [game] = games.data;
  if (!game) error(404, { message: '' });
  const wanted = { game_id: game.id, name_id: decoded(modName), revenue_type: 2, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/mods', wanted);
  const [mod] = data;
  if (!mod) error(404, { message: '' });
  const limit = (name: string, most: number) => Math.min(most, Number(url.searchParams.get(name)) || most);
  const width = limit('maxwidth', CARD.width);
  const height = limit('maxheight', CARD.height);
  return json(
    {
      type: 'rich',
      version: '1.0',
      title: mod.name,
      author_name: mod.submitted_by.username,
      author_url: mod.submitted_by.profile_url,
      provider_name: (await api.call('GET /site')).name,
      provider_url: origin,
      ...(mod.logo.thumb_320x180 && {
        thumbnail_url: mod.logo.thumb_320x180,
        thumbnail_width: 320,
        thumbnail_height: 180,
      }),
      width,
      height,
      html: `<iframe src="${xml(`${origin}/embed/${gameName}/${modName}`)}" width="${width}" height="${height}" loading="lazy" title="${xml(mod.name)}"></iframe>`,
    },
    { headers: { 'access-control-allow-origin': '*', 'cache-control': 'private, max-age=300' } },
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    error(404, { message: '' });
  }
}
