import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { MessageObject, page, pageOf, UserPath } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { ProfileBody } from './changes.ts';
import {
  AccountObject,
  toAccountObject,
  toUserObject,
  toUserStatusObject,
  UserObject,
  UserStatusObject,
} from './object.ts';
import { editProfile, findVisibleUser, isShownToAll, removeAvatar, requireVisibleUser, saveAvatar } from './profile.ts';
import { requireUser } from './users.ts';

const AVATAR_BYTES_MAX = 4 * 1024 * 1024;

export const getUser = operation({
  id: 'get-user',
  tag: 'Users',
  method: 'GET',
  path: '/users/{user_id}',
  says: 'Shows one user.',
  access: reader(),
  params: UserPath,
  returns: ok(UserObject),
  errors: ['USER_NOT_FOUND', 'USER_ACCOUNT_PRIVATE'],
  handle: async (app, { caller, params, portal, cache }) => {
    const person = await requireVisibleUser(app, caller, params.user_id);
    if (isShownToAll(person)) cache(`users/${person.id}`);
    return toUserObject(app, person, portal);
  },
});

export const findUsers = operation({
  id: 'find-users',
  tag: 'Users',
  method: 'GET',
  path: '/users',
  says: 'Finds the user whose profile has this name in its address. Private profiles are not found.',
  access: reader(),
  query: z.object({ name_id: z.string().min(1).max(100) }),
  returns: ok(pageOf(UserObject)),
  errors: [],
  handle: async (app, { caller, query, portal, cache }) => {
    const person = await findVisibleUser(app, caller, query.name_id);
    if (person && isShownToAll(person)) cache(`users/${person.id}`);
    return page(person ? [toUserObject(app, person, portal)] : [], person ? 1 : 0, { limit: 1, offset: 0 });
  },
});

export const getAuthenticatedUser = operation({
  id: 'get-authenticated-user',
  tag: 'Me',
  method: 'GET',
  path: '/me',
  says: 'Shows the user to whom the access token belongs.',
  access: user('read'),
  returns: ok(UserStatusObject),
  errors: [],
  handle: async (app, { caller, portal }) => toUserStatusObject(app, await requireUser(app, caller.userId), portal),
});

export const editAuthenticatedUser = operation({
  id: 'edit-authenticated-user',
  tag: 'Me',
  method: 'PUT',
  path: '/me',
  says: 'Changes the profile and the preferences of the user.',
  access: user('write', 'profile'),
  ends: ['caller'],
  body: ProfileBody,
  returns: ok(UserStatusObject),
  errors: ['MATURE_CONTENT_RESTRICTED'],
  handle: async (app, { caller, body, portal }) =>
    toUserStatusObject(app, await editProfile(app, caller.userId, body), portal),
});

export const getAccount = operation({
  id: 'get-account',
  tag: 'Me',
  method: 'GET',
  path: '/me/account',
  says: 'Shows the private fields of the user’s account.',
  access: user('read', 'profile'),
  returns: ok(AccountObject),
  errors: [],
  handle: async (app, { caller }) => toAccountObject(await requireUser(app, caller.userId)),
});

export const addAvatar = operation({
  id: 'add-avatar',
  tag: 'Me',
  method: 'POST',
  path: '/me/avatar',
  says: 'Replaces the avatar of the user.',
  access: user('write', 'profile'),
  files: { avatar: { bytesMax: AVATAR_BYTES_MAX, required: true, says: 'A picture, ideally square.' } },
  returns: ok(MessageObject),
  errors: ['FILE_CORRUPTED'],
  handle: async (app, { caller, files, language }) => {
    await saveAvatar(app, caller.userId, files['avatar']);
    return { code: 200, message: localise('avatar_saved', language) };
  },
});

export const deleteAvatar = operation({
  id: 'delete-avatar',
  tag: 'Me',
  method: 'DELETE',
  path: '/me/avatar',
  says: 'Removes the avatar of the user.',
  access: user('write', 'profile'),
  returns: noContent,
  errors: [],
  handle: (app, { caller }) => removeAvatar(app, caller.userId),
});

export const userOperations = [
  findUsers,
  getUser,
  getAuthenticatedUser,
  editAuthenticatedUser,
  getAccount,
  addAvatar,
  deleteAvatar,
];
