import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { gameAddress } from '#components/addresses.ts';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import { ruleActions } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const named = { game_id: game.id, rule_id: Number(event.params.rule) || 0 };
  return {
    rule: await api.call('GET /games/{game_id}/rules/{rule_id}', named),
    versions: (await api.call('GET /games/{game_id}/rules/{rule_id}/versions', { ...named, _limit: 100 })).data,
  };
}

const removing = calling('DELETE /games/{game_id}/rules/{rule_id}', [idOf('rule_id')]);

export const actions = {
  change: ruleActions.change,
  dryRun: ruleActions.dryRun,
  async remove(event: RequestEvent) {
    const result = await removing(event);
    if ('done' in result) redirect(303, `${gameAddress(event.params.game!)}/admin/rules`);
    return result;
  },
};
