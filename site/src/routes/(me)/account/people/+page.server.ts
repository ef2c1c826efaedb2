import { apiOf, pagingOf } from '#api';
import { calls, numberOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

const LISTS = {
  following: 'GET /me/following',
  followers: 'GET /me/followers',
  muted: 'GET /me/users/muted',
  blocked: 'GET /me/users/blocked',
} as const;
type List = keyof typeof LISTS;

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const asked = event.url.searchParams.get('list');
  const list: List = asked !== null && Object.hasOwn(LISTS, asked) ? (asked as List) : 'following';
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const { data, result_total } = await api.call(LISTS[list], { ...part });
  const ids = data.map(({ id }) => id);
  // Of followers it is shown whom the user follows too.
  const followed =
    list === 'followers' && ids.length > 0
      ? (await api.call('GET /me/following', { 'id-in': ids, _limit: PER_PAGE })).data.map(({ id }) => id)
      : [];
  return {
    ...paging,
    list,
    lists: Object.keys(LISTS) as List[],
    people: data,
    followed,
    total: result_total,
    myId: (await api.call('GET /me')).id,
  };
}

const person = (form: FormData) => ({ user_id: numberOf(form, 'user_id') });

export const actions = {
  follow: calls('POST /users/{user_id}/following', 'followed', (form) => ({
    user_id: numberOf(form, 'my_id'),
    body: person(form),
  })),
  unfollow: calls('DELETE /users/{user_id}/following/{target_user_id}', 'unfollowed', (form) => ({
    user_id: numberOf(form, 'my_id'),
    target_user_id: numberOf(form, 'user_id'),
  })),
  unmute: calls('DELETE /users/{user_id}/mute', 'unmuted', person),
  unblock: calls('DELETE /users/{user_id}/block', 'unblocked', person),
};
