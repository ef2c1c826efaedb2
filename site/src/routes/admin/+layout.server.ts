import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { LayoutServerLoadEvent } from './$types';

/** The level of the visitor in the site's staff: 1 moderator, 4 administrator, 8 owner. */
export async function load(event: LayoutServerLoadEvent) {
  const api = apiOf(event);
  const me = await api.call('GET /me');
  const staff = await api.call('GET /staff', { user_id: me.id, _limit: 1 });
  const staffLevel = staff.data[0]?.level ?? 0;
  if (staffLevel === 0) error(403, { message: '' });
  return { staffLevel };
}
