import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { LayoutServerLoadEvent } from './$types';

/** Pages of a game have the game, by the name in their address. */
export async function load(event: LayoutServerLoadEvent) {
  const { data } = await apiOf(event).call('GET /games', { name_id: event.params.game, _limit: 1 });
  const [game] = data;
  if (!game) error(404, { message: '' });
  return { game };
}
