import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const isAll = event.url.searchParams.has('all');
  const list = await apiOf(event).call('GET /games', {
    ...(isAll ? { 'status-in': [0, 1] } : { status: 0 }),
    _sort: 'id',
    ...part,
  });
  return { rows: list.data, isAll, paging: { ...paging, total: list.result_total } };
}

/** The game is in the form here, not in the address. */
const accepting = (status: 0 | 1) =>
  calling('PUT /games/{game_id}', [idOf('game_id')], (input) => ({ ...input, status }));

export const actions = { accept: accepting(1), hide: accepting(0) };
