import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  return { plan: await apiOf(event).call('GET /games/{game_id}/plan', { game_id: game.id }) };
}
