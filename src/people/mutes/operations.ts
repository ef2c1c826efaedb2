import { z } from 'zod';
import { type UserCaller, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { page, pageOf, UserPath } from '../../platform/http/objects.ts';
import { type Input, noContent, ok, operation } from '../../platform/http/operation.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { mutedBy, mutedListing, muteFromPortal, muteUser, unmuteUser } from './mutes.ts';

const PORTAL_IDS_MAX = 1_000;

export const muteAUser = operation({
  id: 'mute-a-user',
  tag: 'Users',
  method: 'POST',
  path: '/users/{user_id}/mute',
  says: 'Mutes a user: their content is hidden from the caller.',
  access: user('write', 'personal'),
  under: ['users'],
  params: UserPath,
  returns: noContent,
  errors: [
    'USER_NOT_FOUND',
    'USER_CANNOT_MUTE_AS_GUEST',
    'USER_CANNOT_MUTE_GUESTS',
    'USER_CANNOT_MUTE_SELF',
    'USER_CANNOT_MUTE_SITE_ADMIN',
  ],
  handle: (app, { caller, params }) => muteUser(app, caller, params.user_id),
});

export const unmuteAUser = operation({
  id: 'unmute-a-user',
  tag: 'Users',
  method: 'DELETE',
  path: '/users/{user_id}/mute',
  says: 'Unmutes a user.',
  access: user('write', 'personal'),
  params: UserPath,
  returns: noContent,
  errors: ['USER_NOT_FOUND'],
  handle: (app, { caller, params }) => unmuteUser(app, caller, params.user_id),
});

export const getUsersMuted = operation({
  id: 'get-users-muted',
  tag: 'Me',
  method: 'GET',
  path: '/me/users/muted',
  says: 'Lists the users whom the caller has muted.',
  access: user('read', 'personal'),
  list: mutedListing,
  returns: ok(pageOf(UserObject)),
  errors: [],
  handle: (app, input) => pageOfMuted(app, input),
});

export const syncUsersMuted = operation({
  id: 'sync-users-muted',
  tag: 'Me',
  method: 'POST',
  path: '/me/users/muted',
  says: 'Mutes the users whom the caller has blocked on the platform in the portal header, and lists the muted users. Some clients fetch the list this way.',
  access: user('write', 'personal'),
  emptyBody: true,
  body: z.object({
    portal_ids: z
      .array(z.string().min(1).max(200))
      .max(PORTAL_IDS_MAX)
      .default([])
      .meta({ description: 'The ids of the blocked users on that platform.' }),
  }),
  list: mutedListing,
  returns: ok(pageOf(UserObject)),
  errors: ['USER_MUTE_LIST_SYNC_FAILED', 'USER_CONNECTION_REQUIRED'],
  handle: async (app, input) => {
    const { caller, portal, body } = input;
    if (body.portal_ids.length > 0) await muteFromPortal(app, caller, portal, body.portal_ids);
    return pageOfMuted(app, input);
  },
});

type Asked = Pick<Input<unknown, unknown, unknown, UserCaller>, 'caller' | 'list' | 'portal'>;

async function pageOfMuted(app: App, { caller, list, portal }: Asked) {
  const { users, total } = await mutedBy(app, caller, list);
  return page(
    users.map((each) => toUserObject(app, each, portal)),
    total,
    list,
  );
}

export const muteOperations = [muteAUser, unmuteAUser, getUsersMuted, syncUsersMuted];
