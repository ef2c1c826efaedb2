import { error } from '@sveltejs/kit';
import { apiOf, pagingOf } from '#api';
import { commentActions, isOnGameTeam } from '../../comment-actions.ts';
import type { PageServerLoadEvent } from './$types';

const COMMENTS_PER_PAGE = 50;
/** The bit of `community_options` of games and guides. */
const COMMENTS = 2_048;
const NEGATIVE_VOTES = 256;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const wanted = { game_id: game.id, name_id: event.params.guide, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/guides', wanted);
  const [found] = data;
  if (!found) error(404, { message: '' });
  const named = { game_id: game.id, guide_id: found.id };
  const { part, ...paging } = pagingOf(event.url, COMMENTS_PER_PAGE);
  const [guide, comments] = await Promise.all([
    // Unlike the list, it counts the visit.
    api.call('GET /games/{game_id}/guides/{guide_id}', named),
    api.call('GET /games/{game_id}/guides/{guide_id}/comments', { ...named, ...part }),
  ]);
  const allowsComments = (game.community_options & guide.community_options & COMMENTS) !== 0;
  const allowsNegative = (game.community_options & NEGATIVE_VOTES) !== 0;
  const isGameTeam = await isOnGameTeam(event, game.id);
  return { ...paging, guide, comments, allowsComments, allowsNegative, isGameTeam };
}

export const actions = commentActions('guides');
