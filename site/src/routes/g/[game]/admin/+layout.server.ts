import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import type { LayoutServerLoadEvent } from './$types';

const STAFF_ADMINISTRATOR = 4;

/** The game, and the level of the visitor in it: 1 moderator, 4 manager, 8 administrator. */
export async function load(event: LayoutServerLoadEvent) {
  const api = apiOf(event);
  const me = await api.call('GET /me');
  const game = await gameOf(event);
  const team = await api.call('GET /games/{game_id}/team', { game_id: game.id, user_id: me.id, _limit: 1 });
  const staff = await api.attempt('GET /staff', { user_id: me.id, _limit: 1 });
  const staffLevel = staff.ok ? (staff.value.data[0]?.level ?? 0) : 0;
  const level = Math.max(team.data[0]?.level ?? 0, staffLevel >= STAFF_ADMINISTRATOR ? 8 : staffLevel);
  // The service refuses each request of theirs as well.
  if (level === 0) error(403, { message: '' });
  return { game, level, staffLevel };
}
