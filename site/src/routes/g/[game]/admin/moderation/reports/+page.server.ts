import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const type = event.url.searchParams.get('type');
  const list = await apiOf(event).call('GET /games/{game_id}/reports', {
    game_id: game.id,
    ...(type !== null && { type: Number(type) || 0 }),
    _sort: 'id',
    ...part,
  });
  return { rows: list.data, type, paging: { ...paging, total: list.result_total } };
}

export const actions = {
  resolve: calling('POST /games/{game_id}/reports/{report_id}/resolve', [
    idOf('report_id'),
    { name: 'reason', kind: 'text' },
  ]),
};
