import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:staff');
  const { staffLevel } = await event.parent();
  const api = apiOf(event);
  const installation = staffLevel >= 4 ? await api.call('GET /staff/installation') : undefined;
  return {
    games: (await api.call('GET /games', { status: 0, _limit: 1 })).result_total,
    waiting: (await api.call('GET /moderation', { _limit: 1 })).result_total,
    files: (await api.call('GET /moderation/files', { _limit: 1 })).result_total,
    reports: (await api.call('GET /reports', { _limit: 1 })).result_total,
    parts: installation?.parts ?? [],
    parked: installation?.jobs.parked ?? 0,
  };
}
