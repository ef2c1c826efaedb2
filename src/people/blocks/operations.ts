import { user } from '../../platform/access/caller.ts';
import { page, pageOf, UserPath } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { blockedBy, blockedListing, blockUser, unblockUser } from './blocks.ts';

export const blockAUser = operation({
  id: 'block-a-user',
  tag: 'Users',
  method: 'POST',
  path: '/users/{user_id}/block',
  says: 'Blocks a user: they can no longer follow or invite the caller or comment on the caller’s content, and their content is hidden from the caller.',
  access: user('write', 'personal'),
  under: ['users'],
  params: UserPath,
  returns: noContent,
  errors: ['USER_NOT_FOUND', 'USER_CANNOT_MUTE_SELF', 'USER_CANNOT_BLOCK_SITE_ADMIN'],
  handle: (app, { caller, params }) => blockUser(app, caller, params.user_id),
});

export const unblockAUser = operation({
  id: 'unblock-a-user',
  tag: 'Users',
  method: 'DELETE',
  path: '/users/{user_id}/block',
  says: 'Unblocks a user.',
  access: user('write', 'personal'),
  params: UserPath,
  returns: noContent,
  errors: ['USER_NOT_FOUND'],
  handle: (app, { caller, params }) => unblockUser(app, caller, params.user_id),
});

export const getUsersBlocked = operation({
  id: 'get-users-blocked',
  tag: 'Me',
  method: 'GET',
  path: '/me/users/blocked',
  says: 'Lists the users whom the caller has blocked.',
  access: user('read', 'personal'),
  list: blockedListing,
  returns: ok(pageOf(UserObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const { users, total } = await blockedBy(app, caller, list);
    return page(
      users.map((each) => toUserObject(app, each, portal)),
      total,
      list,
    );
  },
});

export const blockOperations = [blockAUser, unblockAUser, getUsersBlocked];
