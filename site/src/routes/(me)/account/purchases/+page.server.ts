import { apiOf, pagingOf } from '#api';
import { calls, numberOf } from '../../actions.ts';
import { gamesNamed } from '../games.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 25;
const WALLETS_MAX = 20;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const [payments, bought] = await Promise.all([
    api.call('GET /me/payments', part),
    api.call('GET /me/purchased', { _limit: 100 }),
  ]);
  const ids = [...new Set([...payments.data, ...bought.data].map(({ game_id }) => game_id))].slice(0, WALLETS_MAX);
  const nameOf = await gamesNamed(api, ids);
  const wallets = await Promise.all(
    ids.map(async (game_id) => {
      const wallet = await api.attempt('GET /me/wallets', { game_id });
      return wallet.ok ? [{ ...wallet.value, id: game_id, game: nameOf(game_id) }] : [];
    }),
  );
  return {
    ...paging,
    payments: payments.data.map((payment) => ({ ...payment, game: nameOf(payment.game_id) })),
    total: payments.result_total,
    bought: bought.result_total,
    wallets: wallets.flat(),
  };
}

export const actions = {
  refund: calls('POST /me/payments/{payment_id}/refund', 'refunded', (form) => ({
    payment_id: numberOf(form, 'payment_id'),
  })),
};
