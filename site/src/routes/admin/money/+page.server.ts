import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { PAYOUT, SELLER } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const payouts = await api.call('GET /staff/payouts', { ...part });
  return {
    sellers: (await api.call('GET /staff/seller-accounts', { _limit: 100 })).data,
    payouts: payouts.data,
    paging: { ...paging, total: payouts.result_total },
    locks: (await api.call('GET /staff/marketplace-locks', { _limit: 100 })).data,
  };
}

export const actions = {
  payout: calling('PUT /staff/payouts/{payout_id}', PAYOUT),
  seller: calling('PUT /staff/seller-accounts/{user_id}', SELLER),
};
