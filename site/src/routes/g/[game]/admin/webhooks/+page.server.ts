import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { ROTATION, WEBHOOK } from './fields.ts';

const id = idOf('webhook_id');

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { data } = await apiOf(event).call('GET /games/{game_id}/webhooks', { game_id: game.id, _limit: 100 });
  return { webhooks: data };
}

export const actions = {
  add: calling('POST /games/{game_id}/webhooks', WEBHOOK),
  change: calling('PUT /games/{game_id}/webhooks/{webhook_id}', [id, ...WEBHOOK]),
  remove: calling('DELETE /games/{game_id}/webhooks/{webhook_id}', [id]),
  test: calling('POST /games/{game_id}/webhooks/{webhook_id}/test', [id]),
  secret: calling('POST /games/{game_id}/webhooks/{webhook_id}/secret', ROTATION),
  replay: calling('POST /games/{game_id}/webhooks/{webhook_id}/replay', [id]),
};
