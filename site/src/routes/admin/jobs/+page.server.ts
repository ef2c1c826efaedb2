import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:staff');
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await api.call('GET /staff/jobs', { ...part });
  return {
    rows: list.data,
    counts: (await api.call('GET /staff/installation')).jobs,
    paging: { ...paging, total: list.result_total },
  };
}

export const actions = { retry: calling('POST /staff/jobs/{job_id}/retry', [idOf('job_id')]) };
