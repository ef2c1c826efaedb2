import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import { modsOnCards } from '#components/cards.ts';
import { formatsOf } from '#language';
import { commentActions, isOnGameTeam } from '../../comment-actions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 100;
const COMMENTS_MAX = 100;
/** Bits of `community_options` of games. */
const COMMENTS = 16_384;
const NEGATIVE_VOTES = 256;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const format = formatsOf(event);
  const wanted = { game_id: game.id, name_id: event.params.collection, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/collections', wanted);
  const [collection] = data;
  if (!collection) error(404, { message: '' });
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const named = { game_id: game.id, collection_id: collection.id };
  const allowsComments = (game.community_options & COMMENTS) !== 0;
  const [mods, comments] = await Promise.all([
    api.call('GET /games/{game_id}/collections/{collection_id}/mods', {
      ...named,
      _sort: 'added_to_collection',
      ...part,
    }),
    allowsComments
      ? api.call('GET /games/{game_id}/collections/{collection_id}/comments', { ...named, _limit: COMMENTS_MAX })
      : undefined,
  ]);
  const shown = mods.data.map(({ id }) => id);
  const [followed, subscribed, rated] = event.platform!.isSignedIn
    ? await Promise.all([
        api.call('GET /me/following/collections', { id: collection.id, _limit: 1 }),
        shown.length > 0 ? api.call('GET /me/subscribed', { 'id-in': shown, _limit: PER_PAGE }) : undefined,
        api.call('GET /me/ratings', { resource_type: 'collections', resource_id: collection.id, _limit: 1 }),
      ])
    : [];
  return {
    ...paging,
    collection,
    updated: format.day(collection.date_updated),
    mods: modsOnCards(mods, format),
    comments: comments?.data ?? [],
    allowsComments,
    allowsNegative: (game.community_options & NEGATIVE_VOTES) !== 0,
    isGameTeam: await isOnGameTeam(event, game.id),
    rating: rated?.data[0]?.rating ?? 0,
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
  ...commentActions('collections'),
  /** Whether its mods work together. */
  async judge(event: RequestEvent) {
    const form = await event.request.formData();
    const done = await apiOf(event).attempt('POST /games/{game_id}/collections/{collection_id}/compatibility', {
      game_id: Number(form.get('game_id')),
      collection_id: Number(form.get('collection_id')),
      rating: Number(form.get('rating')) as -1 | 0 | 1,
    });
    return done.ok ? {} : refused(done.error);
  },
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
