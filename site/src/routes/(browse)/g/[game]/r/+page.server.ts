import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 24;
const SORTS = ['-visits_total', '-date_live', '-date_updated'] as const;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const sort = SORTS.find((name) => name === event.url.searchParams.get('sort')) ?? SORTS[0];
  const guides = await apiOf(event).call('GET /games/{game_id}/guides', { game_id: game.id, _sort: sort, ...part });
  return { ...paging, sort, sorts: SORTS, guides };
}
