import { apiOf } from '#api';
import { gameAddress } from '#components/addresses.ts';
import { feedResponse, modEntry } from '#feeds';
import { languageOf } from '#texts';
import { missing } from '../comment-actions.ts';
import { filtersOf, headersOf, offeredBy, parametersOf } from '../filters.ts';
import type { RequestEvent } from './$types';

const ENTRIES_MAX = 50;

/** The newest mods of a game, or of a search in it: it takes the filters of the hub. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { url, params, platform } = event;
  const api = apiOf(event);
  const { data } = await api.call('GET /games', { name_id: params.game, _limit: 1 });
  const game = data[0] ?? missing();
  const filters = filtersOf(url, offeredBy(game));
  const asked = { ...parametersOf(filters), game_id: game.id, _limit: ENTRIES_MAX };
  const mods = await api.call(
    'GET /games/{game_id}/mods',
    { ...asked, _sort: '-date_updated' },
    { headers: headersOf(filters) },
  );
  const { origin, language } = platform!;
  return feedResponse(params.format, {
    title: filters.query ? `${game.name}: ${filters.query}` : game.name,
    site: (await api.call('GET /site')).name,
    page: `${origin}${gameAddress(game.name_id)}${url.search}`,
    self: `${origin}${url.pathname}${url.search}`,
    language: languageOf(language),
    entries: mods.data.map((mod) => modEntry(origin, mod)),
  });
}
