import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

const COMMENTS_PER_PAGE = 50;
/** The bit of `community_options` of games and guides. */
const COMMENTS = 2_048;

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
  return { ...paging, guide, comments, allowsComments };
}

export const actions = {
  async comment(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('POST /games/{game_id}/guides/{guide_id}/comments', {
      game_id: Number(form.get('game_id')),
      guide_id: Number(form.get('guide_id')),
      content: String(form.get('content') ?? ''),
    });
    return done.ok ? {} : refused(done.error);
  },
};
