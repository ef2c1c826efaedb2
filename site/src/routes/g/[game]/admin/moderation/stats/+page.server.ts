import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  event.depends('modstead:queue');
  return { stats: await apiOf(event).call('GET /games/{game_id}/moderation/stats', { game_id: game.id }) };
}
