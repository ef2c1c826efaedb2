import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { BAN } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /bans/addresses', { _sort: '-id', ...part });
  return { rows: list.data, paging: { ...paging, total: list.result_total } };
}

export const actions = {
  add: calling('POST /bans/addresses', BAN),
  lift: calling('DELETE /bans/addresses/{ban_id}', [idOf('ban_id')]),
};
