import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { STORES } from './fields.ts';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { data } = await apiOf(event).call('GET /games/{game_id}/monetization/stores', { game_id: game.id });
  return { stores: data };
}

export const actions = {
  async save(event: RequestEvent) {
    const portal = String((await event.request.clone().formData()).get('portal'));
    const fields = STORES[portal] ?? error(404, { message: '' });
    return calling('PUT /games/{game_id}/monetization/stores/{portal}', [idOf('portal'), ...fields])(event);
  },
  remove: calling('DELETE /games/{game_id}/monetization/stores/{portal}', [idOf('portal')]),
};
