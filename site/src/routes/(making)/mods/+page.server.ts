import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 24;
const OTHERS_MAX = 50;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const { searchParams } = event.url;
  const showsDeleted = searchParams.has('withDeleted');
  const [mods, invites, collections, me] = await Promise.all([
    api.call('GET /me/mods', { ...part, _sort: '-date_updated', ...(showsDeleted && { status: 3 }) }),
    api.call('GET /me/team-invites', { _limit: 1 }),
    api.call('GET /me/collections', { _limit: OTHERS_MAX, _sort: '-date_updated' }),
    api.call('GET /me'),
  ]);
  const ids = [...new Set([...mods.data, ...collections.data].map(({ game_id }) => game_id))];
  const games = ids.length > 0 ? (await api.call('GET /games', { 'id-in': ids, _limit: 100 })).data : [];
  const guides = await Promise.all(
    games.map(({ id }) => {
      const own = { game_id: id, submitted_by: me.id, 'status-in': [0, 1], _limit: OTHERS_MAX };
      return api.attempt('GET /games/{game_id}/guides', own);
    }),
  );
  const gameOf = new Map(games.map((game) => [game.id, { name: game.name, name_id: game.name_id }]));
  return {
    ...paging,
    showsDeleted,
    hasDeleted: searchParams.has('deleted'),
    total: mods.result_total,
    invites: invites.result_total,
    mods: mods.data.map((mod) => ({ mod, game: gameOf.get(mod.game_id) })),
    collections: collections.data.map((collection) => ({ collection, game: gameOf.get(collection.game_id) })),
    guides: guides.flatMap((found) =>
      found.ok ? found.value.data.map((guide) => ({ guide, game: gameOf.get(guide.game_id) })) : [],
    ),
    games: [...gameOf.values()],
  };
}
