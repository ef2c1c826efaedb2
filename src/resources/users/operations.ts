import { reader, type UserCaller, user } from '../../access/caller.ts';
import { UserPath } from '../../http/objects.ts';
import { ok, operation } from '../../http/operation.ts';
import { toUserObject, toUserStatusObject, UserObject, UserStatusObject } from './object.ts';
import { requireUser } from './users.ts';

export const getUser = operation({
  id: 'get-user',
  tag: 'Users',
  method: 'GET',
  path: '/users/{user_id}',
  says: 'Shows one person.',
  access: reader(),
  params: UserPath,
  returns: ok(UserObject),
  errors: ['USER_NOT_FOUND'],
  handle: async (app, { params, keep }) => {
    const person = await requireUser(app, params.user_id);
    keep(`users/${person.id}`);
    return toUserObject(app, person);
  },
});

export const getAuthenticatedUser = operation({
  id: 'get-authenticated-user',
  tag: 'Me',
  method: 'GET',
  path: '/me',
  says: 'Shows the person to whom the access token belongs.',
  access: user('read'),
  returns: ok(UserStatusObject),
  errors: [],
  handle: async (app, { caller }) => toUserStatusObject(app, await requireUser(app, (caller as UserCaller).userId)),
});

export const userOperations = [getUser, getAuthenticatedUser];
