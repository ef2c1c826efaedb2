import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 24;
const SORTS = [
  'popular',
  '-date_live',
  '-date_updated',
  '-ratings_weighted_aggregate',
  '-subscribers_total',
  '-downloads_total',
] as const;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { searchParams } = event.url;
  const query = searchParams.get('q')?.trim() ?? '';
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const sort = SORTS.find((name) => name === searchParams.get('sort')) ?? 'popular';
  const offered = game.tag_options.filter(({ hidden }) => !hidden);
  const tags = searchParams.getAll('tag').filter((tag) => offered.some((group) => group.tags.includes(tag)));
  const mods = await apiOf(event).call('GET /games/{game_id}/mods', {
    game_id: game.id,
    _sort: sort,
    ...part,
    ...(query && { _q: query }),
    ...(tags.length > 0 && { tags: tags.join(',') }),
  });
  return { ...paging, query, sort, sorts: SORTS, tags, offered, mods };
}
