import { error } from '@sveltejs/kit';
import { apiOf, pagingOf } from '#api';
import { modsOnCards } from '#components/cards.ts';
import { formatsOf } from '#language';
import { filtersOf, headersOf, offeredBy, parametersOf } from '../../(browse)/g/[game]/filters.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 12;
const PER_PAGE_MAX = 48;

/** The hub of a game for a frame on another site or in a game. It takes the filters of the hub as parameters. */
export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { searchParams } = event.url;
  const { data } = await api.call('GET /games', { name_id: event.params.game, _limit: 1 });
  const [game] = data;
  if (!game) error(404, { message: '' });
  const offered = offeredBy(game);
  const filters = filtersOf(event.url, offered);
  const limit = Math.min(PER_PAGE_MAX, Math.max(1, Math.floor(Number(searchParams.get('limit'))) || PER_PAGE));
  const { part, ...paging } = pagingOf(event.url, limit);
  const mods = await api.call(
    'GET /games/{game_id}/mods',
    { game_id: game.id, ...parametersOf(filters), ...part },
    { headers: headersOf(filters) },
  );
  const target: 'page' | 'message' = searchParams.get('target') === 'message' ? 'message' : 'page';
  return {
    ...paging,
    embedded: { id: game.id, name: game.name, name_id: game.name_id },
    filters,
    mods: modsOnCards(mods, formatsOf(event)),
    target,
  };
}
