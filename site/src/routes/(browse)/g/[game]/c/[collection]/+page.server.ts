import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 100;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const wanted = { game_id: game.id, name_id: event.params.collection, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/collections', wanted);
  const [collection] = data;
  if (!collection) error(404, { message: '' });
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const mods = await api.call('GET /games/{game_id}/collections/{collection_id}/mods', {
    game_id: game.id,
    collection_id: collection.id,
    _sort: 'added_to_collection',
    ...part,
  });
  const shown = mods.data.map(({ id }) => id);
  const [followed, subscribed] = event.platform!.isSignedIn
    ? await Promise.all([
        api.call('GET /me/following/collections', { id: collection.id, _limit: 1 }),
        shown.length > 0 ? api.call('GET /me/subscribed', { 'id-in': shown, _limit: PER_PAGE }) : undefined,
      ])
    : [];
  return {
    ...paging,
    collection,
    mods,
    isFollowed: (followed?.data.length ?? 0) > 0,
    /** Of the mods on this page. */
    subscribed: subscribed?.data.length ?? 0,
  };
}

async function named({ request }: RequestEvent) {
  const form = await request.formData();
  return { game_id: Number(form.get('game_id')), collection_id: Number(form.get('collection_id')) };
}

export const actions = {
  async follow(event: RequestEvent) {
    const which = await named(event);
    const done = await apiOf(event).attempt('POST /games/{game_id}/collections/{collection_id}/followers', which);
    return done.ok ? {} : refused(done.error);
  },
  async unfollow(event: RequestEvent) {
    const which = await named(event);
    const done = await apiOf(event).attempt('DELETE /games/{game_id}/collections/{collection_id}/followers', which);
    return done.ok ? {} : refused(done.error);
  },
  async subscribe(event: RequestEvent) {
    const which = await named(event);
    const done = await apiOf(event).attempt('POST /games/{game_id}/collections/{collection_id}/subscriptions', which);
    return done.ok ? {} : refused(done.error);
  },
  async unsubscribe(event: RequestEvent) {
    const which = await named(event);
    const done = await apiOf(event).attempt('DELETE /games/{game_id}/collections/{collection_id}/subscriptions', which);
    return done.ok ? {} : refused(done.error);
  },
};
