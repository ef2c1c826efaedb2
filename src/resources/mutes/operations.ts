import { type UserCaller, user } from '../../access/caller.ts';
import { page, pageOf, UserPath } from '../../http/objects.ts';
import { noContent, ok, operation } from '../../http/operation.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { mutedBy, mutedListing, muteUser, unmuteUser } from './mutes.ts';

export const muteAUser = operation({
  id: 'mute-a-user',
  tag: 'Users',
  method: 'POST',
  path: '/users/{user_id}/mute',
  says: 'Mutes a person: what they make is no longer shown to the caller.',
  access: user('write'),
  params: UserPath,
  returns: noContent,
  errors: [
    'USER_NOT_FOUND',
    'USER_CANNOT_MUTE_AS_GUEST',
    'USER_CANNOT_MUTE_GUESTS',
    'USER_CANNOT_MUTE_SELF',
    'USER_CANNOT_MUTE_SITE_ADMIN',
  ],
  handle: (app, { caller, params }) => muteUser(app, caller as UserCaller, params.user_id),
});

export const unmuteAUser = operation({
  id: 'unmute-a-user',
  tag: 'Users',
  method: 'DELETE',
  path: '/users/{user_id}/mute',
  says: 'Takes a mute back.',
  access: user('write'),
  params: UserPath,
  returns: noContent,
  errors: ['USER_NOT_FOUND'],
  handle: (app, { caller, params }) => unmuteUser(app, caller as UserCaller, params.user_id),
});

export const getUsersMuted = operation({
  id: 'get-users-muted',
  tag: 'Me',
  method: 'GET',
  path: '/me/users/muted',
  says: 'Lists the people whom the caller has muted.',
  access: user('read'),
  list: mutedListing,
  returns: ok(pageOf(UserObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const { users, total } = await mutedBy(app, caller as UserCaller, list);
    return page(
      users.map((each) => toUserObject(app, each, portal)),
      total,
      list,
    );
  },
});

export const muteOperations = [muteAUser, unmuteAUser, getUsersMuted];
