import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const secret = await apiOf(event).attempt('GET /games/{game_id}/metrics/secret', { game_id: game.id });
  if (!secret.ok && secret.error.status === 403)
    await apiOf(event).call('GET /games/{game_id}/metrics/secret', { game_id: game.id });
  return { metrics: secret.ok ? secret.value : undefined, apiUrl: `${event.platform!.origin}/v1` };
}

export const actions = {
  key: calling('PUT /games/{game_id}/api-key'),
  metrics: calling('POST /games/{game_id}/metrics/secret'),
  removeMetrics: calling('DELETE /games/{game_id}/metrics/secret'),
};
