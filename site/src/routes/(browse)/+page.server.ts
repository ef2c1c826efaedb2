import { redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { gameOnCard, modOnCard } from '#components/cards.ts';
import { formatsOf } from '#language';
import type { PageServerLoadEvent } from './$types';

const GAMES_MAX = 24;
const GAMES_WITH_NEWS = 3;
const NEWS_MAX = 6;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const format = formatsOf(event);
  const query = event.url.searchParams.get('q')?.trim() ?? '';
  const page = Math.max(1, Number(event.url.searchParams.get('page')) || 1);
  const games = await api.call('GET /games', {
    _sort: '-downloads_total',
    _limit: GAMES_MAX,
    _offset: (page - 1) * GAMES_MAX,
    ...(query && { _q: query }),
  });
  // An empty installation begins with its operator; its sandbox needs none.
  const isEmpty = games.result_total === 0 && !query && event.platform!.environment === 'production';
  if (isEmpty && (await api.call('GET /staff/first')).is_needed) redirect(303, '/setup');
  const shown = query || page > 1 ? [] : games.data.slice(0, GAMES_WITH_NEWS);
  const news = await Promise.all(
    shown.map(async ({ id, name, name_id }) => {
      const { data } = await api.call('GET /games/{game_id}/mods', {
        game_id: id,
        revenue_type: 2,
        _sort: '-date_updated',
        _limit: NEWS_MAX,
      });
      return { game: { name, name_id }, mods: data.map((mod) => modOnCard(mod, format)) };
    }),
  );
  return {
    query,
    page,
    perPage: GAMES_MAX,
    games: games.data.map((game) => gameOnCard(game, format)),
    total: games.result_total,
    news: news.filter(({ mods }) => mods.length > 0),
  };
}
