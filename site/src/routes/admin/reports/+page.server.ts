import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const type = event.url.searchParams.get('type');
  const list = await api.call('GET /reports', {
    ...(type !== null && { type: Number(type) || 0 }),
    _sort: 'id',
    ...part,
  });
  const ids = [...new Set(list.data.map(({ game_id }) => game_id).filter((id) => id > 0))];
  const games =
    ids.length > 0 ? (await api.call('GET /games', { 'id-in': ids, 'status-in': [0, 1], _limit: PER_PAGE })).data : [];
  return {
    rows: list.data,
    type,
    games: Object.fromEntries(games.map(({ id, name_id }) => [id, name_id])) as Record<number, string>,
    paging: { ...paging, total: list.result_total },
  };
}

export const actions = {
  resolve: calling('POST /reports/{report_id}/resolve', [idOf('report_id'), { name: 'reason', kind: 'text' }]),
};
