import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 24;
const SORTS = ['-date_updated', 'name', '-date_live'] as const;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const sort = SORTS.find((name) => name === event.url.searchParams.get('sort')) ?? SORTS[0];
  const mods = await api.call('GET /me/subscribed', { _sort: sort, ...part });
  const ids = [...new Set(mods.data.map(({ game_id }) => game_id))];
  const games = ids.length > 0 ? (await api.call('GET /games', { 'id-in': ids, _limit: PER_PAGE })).data : [];
  const nameOf = new Map(games.map(({ id, name }) => [id, name]));
  return {
    ...paging,
    sort,
    sorts: SORTS,
    total: mods.result_total,
    // The game may be hidden meanwhile; the subscription stays.
    mods: mods.data.map((mod) => ({ mod, game: nameOf.get(mod.game_id) })),
  };
}

export const actions = {
  async unsubscribe(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('DELETE /games/{game_id}/mods/{mod_id}/subscribe', {
      game_id: Number(form.get('game_id')),
      mod_id: Number(form.get('mod_id')),
    });
    return done.ok ? {} : refused(done.error);
  },
};
