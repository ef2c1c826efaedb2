import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const link = await api.attempt('GET /games/{game_id}/preview', { game_id: game.id });
  const list = await api.call('GET /games/{game_id}/previewers', { game_id: game.id, ...part });
  return { link: link.ok ? link.value : undefined, rows: list.data, paging: { ...paging, total: list.result_total } };
}

export const actions = {
  link: calling('PUT /games/{game_id}/preview'),
  invite: calling('POST /games/{game_id}/previewers', [{ name: 'user_id', kind: 'number', required: true }]),
  end: calling('DELETE /games/{game_id}/previewers/{user_id}', [{ name: 'user_id', kind: 'number' }]),
};
