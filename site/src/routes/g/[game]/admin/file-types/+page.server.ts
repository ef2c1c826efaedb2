import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  return { types: await apiOf(event).call('GET /games/{game_id}/file-types', { game_id: game.id }) };
}

export const actions = {
  save: calling('PUT /games/{game_id}/file-types', [
    { name: 'refused', kind: 'lines' },
    { name: 'reported', kind: 'lines' },
  ]),
};
