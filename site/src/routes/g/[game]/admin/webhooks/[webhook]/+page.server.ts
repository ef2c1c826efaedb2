import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;
const STATES = ['waiting', 'delivered', 'parked'] as const;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:deliveries');
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const state = STATES.find((each) => each === event.url.searchParams.get('state'));
  const list = await apiOf(event).call('GET /games/{game_id}/webhooks/{webhook_id}/deliveries', {
    game_id: game.id,
    webhook_id: Number(event.params.webhook) || 0,
    ...(state && { state }),
    ...part,
  });
  return { rows: list.data, state, states: STATES, paging: { ...paging, total: list.result_total } };
}

export const actions = {
  replay: calling('POST /games/{game_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/replay', [
    idOf('webhook_id'),
    idOf('delivery_id'),
  ]),
};
