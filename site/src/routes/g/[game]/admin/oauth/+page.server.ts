import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { CHANGED_CLIENT, NEW_CLIENT, ROTATION } from './fields.ts';

const PER_PAGE = 100;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const input = { game_id: game.id, _limit: PER_PAGE };
  return {
    clients: (await apiOf(event).call('GET /games/{game_id}/oauth/clients', input)).data,
    origin: event.platform!.origin,
  };
}

export const actions = {
  add: calling('POST /games/{game_id}/oauth/clients', NEW_CLIENT),
  change: calling('PUT /games/{game_id}/oauth/clients/{client_id}', CHANGED_CLIENT),
  secret: calling('PUT /games/{game_id}/oauth/clients/{client_id}/secret', ROTATION),
  remove: calling('DELETE /games/{game_id}/oauth/clients/{client_id}', [idOf('client_id')]),
};
