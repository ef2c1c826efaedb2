import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import { modsOnCards } from '#components/cards.ts';
import { formatsOf } from '#language';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 24;
const COLLECTIONS_MAX = 12;
const SORTS = ['-date_live', '-date_updated', '-downloads_total', '-ratings_weighted_aggregate'] as const;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const format = formatsOf(event);
  const found = await api.call('GET /users', { name_id: event.params.user });
  const [user] = found.data;
  if (!user) error(404, { message: '' });
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const sort = SORTS.find((name) => name === event.url.searchParams.get('sort')) ?? SORTS[0];
  const [mods, games] = await Promise.all([
    api.call('GET /users/{user_id}/mods', { user_id: user.id, _sort: sort, revenue_type: 2, ...part }),
    api.call('GET /games', { _limit: 100 }),
  ]);
  const { isSignedIn } = event.platform!;
  return {
    ...paging,
    user,
    joined: user.date_joined > 0 ? format.day(user.date_joined) : undefined,
    seen: user.date_online > 0 ? format.ago(user.date_online) : undefined,
    mods: modsOnCards(mods, format),
    sort,
    sorts: SORTS,
    /** The names in the addresses of the mods. */
    games: Object.fromEntries(games.data.map(({ id, name, name_id }) => [id, { name, name_id }])),
    mine: isSignedIn ? await mineOf(event, user.id) : undefined,
  };
}

/** What the user is to the visitor. */
async function mineOf(event: PageServerLoadEvent, id: number) {
  const api = apiOf(event);
  const [followed, muted, blocked, collections] = await Promise.all([
    api.call('GET /me/following', { id, _limit: 1 }),
    api.call('GET /me/users/muted', { id, _limit: 1 }),
    api.call('GET /me/users/blocked', { _limit: 100 }),
    api.call('GET /users/{user_id}/collections', { user_id: id, _limit: COLLECTIONS_MAX }),
  ]);
  return {
    isFollowed: followed.data.length > 0,
    isMuted: muted.data.length > 0,
    isBlocked: blocked.data.some((each) => each.id === id),
    collections: collections.data,
  };
}

const userIn = async ({ request }: RequestEvent) => Number((await request.formData()).get('user_id'));

export const actions = {
  async follow(event: RequestEvent) {
    const id = await userIn(event);
    const api = apiOf(event);
    const me = await api.call('GET /me');
    const done = await api.attempt('POST /users/{user_id}/following', {
      user_id: me.id,
      body: { user_id: id },
    });
    return done.ok ? {} : refused(done.error);
  },
  async unfollow(event: RequestEvent) {
    const id = await userIn(event);
    const api = apiOf(event);
    const me = await api.call('GET /me');
    const place = { user_id: me.id, target_user_id: id };
    const done = await api.attempt('DELETE /users/{user_id}/following/{target_user_id}', place);
    return done.ok ? {} : refused(done.error);
  },
  async mute(event: RequestEvent) {
    const done = await apiOf(event).attempt('POST /users/{user_id}/mute', { user_id: await userIn(event) });
    return done.ok ? {} : refused(done.error);
  },
  async unmute(event: RequestEvent) {
    const done = await apiOf(event).attempt('DELETE /users/{user_id}/mute', { user_id: await userIn(event) });
    return done.ok ? {} : refused(done.error);
  },
  async block(event: RequestEvent) {
    const done = await apiOf(event).attempt('POST /users/{user_id}/block', { user_id: await userIn(event) });
    return done.ok ? {} : refused(done.error);
  },
  async unblock(event: RequestEvent) {
    const done = await apiOf(event).attempt('DELETE /users/{user_id}/block', { user_id: await userIn(event) });
    return done.ok ? {} : refused(done.error);
  },
};
