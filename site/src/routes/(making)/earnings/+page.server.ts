import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const PAYOUTS_MAX = 50;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const [earnings, payouts, account] = await Promise.all([
    api.call('GET /me/earnings', { _limit: 100 }),
    api.call('GET /me/payouts', { _limit: PAYOUTS_MAX }),
    api.attempt('GET /me/monetization/account'),
  ]);
  const ids = [...new Set([...earnings.data, ...payouts.data].map(({ game_id }) => game_id))];
  const games = ids.length > 0 ? (await api.call('GET /games', { 'id-in': ids, _limit: 100 })).data : [];
  return {
    earnings: earnings.data,
    payouts: payouts.data,
    account: account.ok ? account.value : undefined,
    games: games.map(({ id, name, token_name }) => ({ id, name, token_name })),
    /** A lost answer must not pay twice. */
    requestKey: crypto.randomUUID(),
  };
}

export const actions = {
  async register(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('POST /me/monetization/account', {
      legal_name: textOf(form, 'legal_name') ?? '',
      country: textOf(form, 'country') ?? '',
      payout_details: textOf(form, 'payout_details') ?? '',
    });
    return done.ok ? { saved: true } : refused(done.error, form);
  },
  async payout(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('POST /games/{game_id}/monetization/payouts', {
      game_id: Number(textOf(form, 'game_id')),
      idempotent_key: textOf(form, 'key') ?? '',
      currency: textOf(form, 'currency') ?? '',
    });
    return done.ok ? { requested: true } : refused(done.error);
  },
};
