import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { type Field, idOf } from '#components/dashboard/fields.ts';
import { PLATFORMS } from '../platforms/names.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:cooks');
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const runners = await api.call('GET /games/{game_id}/cook-runners', { game_id: game.id, _limit: 100 });
  const cooks = await api.call('GET /games/{game_id}/cooks', { game_id: game.id, _sort: '-date_added', ...part });
  return { runners: runners.data, cooks: cooks.data, paging: { ...paging, total: cooks.result_total } };
}

const RUNNER: readonly Field[] = [
  { name: 'name', kind: 'text' },
  { name: 'platforms', kind: 'many', options: PLATFORMS },
];

export const actions = {
  add: calling('POST /games/{game_id}/cook-runners', RUNNER),
  remove: calling('DELETE /games/{game_id}/cook-runners/{runner_id}', [idOf('runner_id')]),
};
