import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { PORTALS } from './fields.ts';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { data } = await apiOf(event).call('GET /games/{game_id}/portals', { game_id: game.id, _limit: 100 });
  return { portals: data, asked: event.url.searchParams.get('portal') ?? '' };
}

export const actions = {
  async save(event: RequestEvent) {
    const portal = String((await event.request.clone().formData()).get('portal'));
    const fields = PORTALS[portal] ?? error(404, { message: '' });
    return calling('PUT /games/{game_id}/portals/{portal}', [idOf('portal'), ...fields])(event);
  },
  test: calling('POST /games/{game_id}/portals/{portal}/test', [idOf('portal')]),
  remove: calling('DELETE /games/{game_id}/portals/{portal}', [idOf('portal')]),
};
