import { z } from 'zod';
import { type UserCaller, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { Id, PathId, page, pageOf, UserPath } from '../../platform/http/objects.ts';
import { type Input, noContent, ok, operation } from '../../platform/http/operation.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { followListing, followUser, listFollows, type Side, unfollowUser } from './follows.ts';

export const followUserOperation = operation({
  id: 'follow-user',
  tag: 'Users',
  method: 'POST',
  path: '/users/{user_id}/following',
  says: 'Follows a user. The path names the caller, `user_id` in the body the followed user.',
  access: user('write', 'personal'),
  under: ['users'],
  names: { users: ({ body }) => [body.user_id] },
  params: UserPath,
  body: z.object({ user_id: Id.meta({ description: 'Whom to follow.' }) }),
  returns: noContent,
  errors: [
    'USER_NOT_FOUND',
    'USER_NO_VIEW_PERMISSION',
    'USER_FOLLOW_TARGET_BANNED',
    'USER_FOLLOW_TARGET_DELETED',
    'USER_ALREADY_FOLLOWED',
    'USER_IS_BLOCKED',
  ],
  handle: (app, { caller, params, body }) => followUser(app, caller, params.user_id, body.user_id),
});

export const unfollowUserOperation = operation({
  id: 'unfollow-user',
  tag: 'Users',
  method: 'DELETE',
  path: '/users/{user_id}/following/{target_user_id}',
  says: 'Unfollows a user. The path names the caller and the followed user.',
  access: user('write', 'personal'),
  params: UserPath.extend({ target_user_id: PathId }),
  returns: noContent,
  errors: ['USER_NO_VIEW_PERMISSION', 'UNSUBSCRIBE_NOT_SUBSCRIBED'],
  handle: (app, { caller, params }) => unfollowUser(app, caller, params.user_id, params.target_user_id),
});

const PEOPLE = {
  tag: 'Users',
  method: 'GET',
  access: user('read'),
  list: followListing,
  returns: ok(pageOf(UserObject)),
} as const;

type Asked = Pick<Input<unknown, unknown, unknown, UserCaller>, 'caller' | 'list' | 'portal'>;

async function answerPeople(app: App, { caller, list, portal }: Asked, side: Side, userId: number) {
  const { users, total } = await listFollows(app, caller, side, userId, list);
  return page(
    users.map((each) => toUserObject(app, each, portal)),
    total,
    list,
  );
}

export const getUserFollowers = operation({
  ...PEOPLE,
  id: 'get-user-followers',
  path: '/users/{user_id}/followers',
  says: 'Lists the followers of a user.',
  params: UserPath,
  errors: ['USER_NOT_FOUND'],
  handle: (app, input) => answerPeople(app, input, 'followers', input.params.user_id),
});

export const getUserFollowing = operation({
  ...PEOPLE,
  id: 'get-user-following',
  path: '/users/{user_id}/following',
  says: 'Lists the users whom a user follows.',
  params: UserPath,
  errors: ['USER_NOT_FOUND'],
  handle: (app, input) => answerPeople(app, input, 'following', input.params.user_id),
});

export const getMyFollowers = operation({
  ...PEOPLE,
  id: 'me-get-followers',
  tag: 'Me',
  path: '/me/followers',
  says: 'Lists the followers of the caller.',
  errors: [],
  handle: (app, input) => answerPeople(app, input, 'followers', input.caller.userId),
});

export const getMyFollowing = operation({
  ...PEOPLE,
  id: 'get-me-following',
  tag: 'Me',
  path: '/me/following',
  says: 'Lists the users whom the caller follows.',
  errors: [],
  handle: (app, input) => answerPeople(app, input, 'following', input.caller.userId),
});

export const followOperations = [
  followUserOperation,
  unfollowUserOperation,
  getUserFollowers,
  getUserFollowing,
  getMyFollowers,
  getMyFollowing,
];
