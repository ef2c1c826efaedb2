import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { RESTRICTION } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /games/{game_id}/restrictions', { game_id: game.id, ...part });
  return {
    rows: list.data,
    paging: { ...paging, total: list.result_total },
    asked: Number(event.url.searchParams.get('user')) || undefined,
  };
}

export const actions = {
  put: calling('PUT /games/{game_id}/restrictions/{user_id}', RESTRICTION),
  lift: calling('DELETE /games/{game_id}/restrictions/{user_id}', [idOf('user_id')]),
};
