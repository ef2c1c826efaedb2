import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { PARTNER } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /games/{game_id}/monetization/partners', { game_id: game.id, ...part });
  return { rows: list.data, paging: { ...paging, total: list.result_total } };
}

export const actions = { put: calling('PUT /games/{game_id}/monetization/partners/{user_id}', PARTNER) };
