import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { kindOf } from '#components/dashboard/transactions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;
const LAST_CHECKS = 10;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:checks');
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const kind = kindOf(event.url);
  const list = await api.call('GET /staff/transactions', { kind, ...part });
  return {
    rows: list.data,
    kind,
    paging: { ...paging, total: list.result_total },
    checks: (await api.call('GET /staff/ledger/checks', { _limit: LAST_CHECKS })).data,
  };
}

export const actions = { check: calling('POST /staff/ledger/checks') };
