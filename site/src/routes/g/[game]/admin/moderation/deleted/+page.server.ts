import { apiOf, pagingOf } from '#api';
import { decide, undo } from '../decide.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /games/{game_id}/moderation', {
    game_id: game.id,
    status: 3,
    _sort: '-date_updated',
    ...part,
  });
  return { rows: list.data, paging: { ...paging, total: list.result_total } };
}

export const actions = { decide, undo };
