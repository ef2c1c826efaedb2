import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { DECISION } from './fields.ts';

const PER_PAGE = 50;
const STATES = ['queued', 'approved', 'declined'] as const;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const status = STATES.find((each) => each === event.url.searchParams.get('status')) ?? 'queued';
  const list = await apiOf(event).call('GET /games/{game_id}/marketplace/queue', {
    game_id: game.id,
    ...(status !== 'queued' && { status }),
    ...part,
  });
  return { rows: list.data, status, states: STATES, paging: { ...paging, total: list.result_total } };
}

export const actions = { decide: calling('PUT /games/{game_id}/marketplace/queue/{mod_id}', DECISION) };
