import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { type Field, idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /staff', { ...part });
  return { rows: list.data, paging: { ...paging, total: list.result_total } };
}

const level: Field = { name: 'level', kind: 'choice', options: [1, 4, 8] };

export const actions = {
  add: calling('POST /staff', [{ name: 'user_id', kind: 'number' }, level]),
  change: calling('PUT /staff/{user_id}', [idOf('user_id'), level]),
  remove: calling('DELETE /staff/{user_id}', [idOf('user_id')]),
};
