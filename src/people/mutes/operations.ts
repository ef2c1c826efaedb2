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
  says: 'Mutes a person: what they make is no longer shown to the caller.',
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
  says: 'Takes a mute back.',
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
  says: 'Lists the people whom the caller has muted.',
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
  says: 'Mutes those whom the caller has blocked on the platform that the portal header names, and lists the muted. Some clients ask for the list this way.',
  access: user('write', 'personal'),
  emptyBody: true,
  body: z.object({
    portal_ids: z
      .array(z.string().min(1).max(200))
      .max(PORTAL_IDS_MAX)
      .default([])
      .meta({ description: 'The ids of the blocked on that platform.' }),
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
