import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { GROUPS } from './fields.ts';

const PER_PAGE = 20;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const history = await api.call('GET /games/{game_id}/monetization/terms/history', { game_id: game.id, ...part });
  return {
    terms: await api.call('GET /games/{game_id}/monetization/terms', { game_id: game.id }),
    history: history.data,
    paging: { ...paging, total: history.result_total },
  };
}

export const actions = {
  async save(event: RequestEvent) {
    const at = (await event.request.clone().formData()).get('at');
    return calling('PUT /games/{game_id}/monetization/terms', GROUPS.find(({ name }) => name === at)?.fields)(event);
  },
};
