import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { ruleActions } from './actions.ts';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { data } = await apiOf(event).call('GET /games/{game_id}/rules', { game_id: game.id, _limit: 100 });
  return { rules: data };
}

const id = idOf('rule_id');

export const actions = {
  add: ruleActions.add,
  dryRun: ruleActions.dryRun,
  enable: calling('PUT /games/{game_id}/rules/{rule_id}', [id, { name: 'enabled', kind: 'yes' }]),
  order: calling('POST /games/{game_id}/rules/reorder', [{ name: 'rule_ids', kind: 'many' }]),
};
