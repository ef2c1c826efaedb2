import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const games = await api.call('GET /games', { name_id: event.params.game, _limit: 1 });
  const [game] = games.data;
  if (!game) error(404, { message: '' });
  const wanted = { game_id: game.id, name_id: event.params.mod, revenue_type: 2, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/mods', wanted);
  const [mod] = data;
  if (!mod) error(404, { message: '' });
  return { mod, embedded: { name: game.name, name_id: game.name_id } };
}
