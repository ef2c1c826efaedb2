import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { PACK } from './fields.ts';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const input = { game_id: game.id, _limit: 100 };
  const { data } = await apiOf(event).call('GET /games/{game_id}/monetization/token-packs', input);
  const packs = new Map<number, { pack: (typeof data)[number]; skus: string[] }>();
  for (const row of data) {
    const known = packs.get(row.token_pack_id) ?? { pack: row, skus: [] };
    if (row.sku) known.skus.push(`${row.portal.toLowerCase()}=${row.sku}`);
    packs.set(row.token_pack_id, known);
  }
  return { packs: [...packs.values()] };
}

const id = idOf('token_pack_id');

export const actions = {
  add: calling('POST /games/{game_id}/monetization/token-packs', PACK),
  change: calling('PUT /games/{game_id}/monetization/token-packs/{token_pack_id}', [id, ...PACK]),
  remove: calling('DELETE /games/{game_id}/monetization/token-packs/{token_pack_id}', [id]),
};
