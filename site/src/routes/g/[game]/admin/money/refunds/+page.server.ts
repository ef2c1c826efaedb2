import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { REFUND } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const idIn = (name: string) => Number(event.url.searchParams.get(name)) || undefined;
  const asked = { user_id: idIn('user_id'), mod_id: idIn('mod_id') };
  const list = await apiOf(event).call('GET /games/{game_id}/purchases', { game_id: game.id, ...asked, ...part });
  return { rows: list.data, asked, paging: { ...paging, total: list.result_total } };
}

export const actions = { refund: calling('POST /games/{game_id}/purchases/{purchase_id}/refund', REFUND) };
