import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const action = event.url.searchParams.get('action') ?? '';
  const list = await apiOf(event).call('GET /games/{game_id}/audit', {
    game_id: game.id,
    _sort: '-id',
    ...(action && { action }),
    ...part,
  });
  return { rows: list.data, action, paging: { ...paging, total: list.result_total } };
}
