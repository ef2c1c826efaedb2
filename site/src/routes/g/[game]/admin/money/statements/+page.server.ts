import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const month = event.url.searchParams.get('month') || new Date().toISOString().slice(0, 7);
  const asked = { game_id: game.id, month };
  const sellers = await api.call('GET /games/{game_id}/monetization/statement/sellers', { ...asked, ...part });
  return {
    month,
    accounts: (await api.call('GET /games/{game_id}/monetization/statement', asked)).accounts,
    sellers: sellers.data,
    paging: { ...paging, total: sellers.result_total },
  };
}
