import { randomUUID } from 'node:crypto';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const [packs, wallet] = await Promise.all([
    api.call('GET /games/{game_id}/monetization/token-packs', { game_id: game.id, _limit: 100 }),
    api.attempt('GET /me/wallets', { game_id: game.id }),
  ]);
  return {
    // Those of other portals are bought there.
    packs: packs.data.filter(({ portal }) => portal === ''),
    balance: wallet.ok ? wallet.value.balance : 0,
    /** The payment begins once, however often its form is sent. */
    key: randomUUID(),
  };
}

export const actions = {
  async default(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('POST /games/{game_id}/monetization/token-packs/{token_pack_id}/checkout', {
      game_id: Number(form.get('game_id')),
      token_pack_id: Number(form.get('token_pack_id')),
      idempotent_key: `${form.get('key')} ${form.get('token_pack_id')}`,
    });
    return done.ok ? { checkout: done.value.checkout_url } : refused(done.error);
  },
};
