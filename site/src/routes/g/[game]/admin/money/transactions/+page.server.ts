import { apiOf, pagingOf } from '#api';
import { kindOf } from '#components/dashboard/transactions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const kind = kindOf(event.url);
  const asked = { game_id: game.id, kind, ...part };
  const list = await apiOf(event).call('GET /games/{game_id}/monetization/transactions', asked);
  return { rows: list.data, kind, paging: { ...paging, total: list.result_total } };
}
