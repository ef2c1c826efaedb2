import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

/** The games whose team the visitor belongs to, with the way to their dashboards. */
export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const games = await api.call('GET /me/games', { ...part });
  const staff = await api.attempt('GET /staff', { _limit: 1 });
  return { games: games.data, isStaff: staff.ok, paging: { ...paging, total: games.result_total } };
}
