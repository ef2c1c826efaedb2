import { apiOf, pagingOf } from '#api';
import { modsOnCards } from '#components/cards.ts';
import { formatsOf } from '#language';
import type { PageServerLoadEvent } from './$types';
import { filtersOf, headersOf, offeredBy, parametersOf } from './filters.ts';

const PER_PAGE = 24;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const offered = offeredBy(game);
  const filters = filtersOf(event.url, offered);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const asked = { game_id: game.id, ...parametersOf(filters), ...part };
  const mods = await apiOf(event).call('GET /games/{game_id}/mods', asked, { headers: headersOf(filters) });
  const view: 'grid' | 'table' = event.url.searchParams.get('view') === 'table' ? 'table' : 'grid';
  return { ...paging, filters, offered, mods: modsOnCards(mods, formatsOf(event)), view };
}
