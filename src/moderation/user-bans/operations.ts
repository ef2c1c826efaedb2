import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { UserPath } from '../../platform/http/objects.ts';
import { noContent, operation } from '../../platform/http/operation.ts';
import { setBan } from './user-bans.ts';

const SITE = [
  'USER_NOT_FOUND',
  'RESOURCE_NO_MODERATE_PERMISSION',
  'USER_ADMIN_CANT_MODERATE_SELF',
  'MODERATION_ALREADY_ACTIONED',
] as const;

export const banUser = operation({
  id: 'ban-user',
  tag: 'Moderation',
  method: 'PUT',
  path: '/users/{user_id}/ban',
  says: 'Bans a user from the whole site, at once. Allowed for site administrators, who cannot be banned.',
  access: user('write', 'staff'),
  ends: ['users'],
  params: UserPath,
  body: z.object({ reason: z.string().trim().min(1).max(5_000) }),
  returns: noContent,
  errors: SITE,
  handle: (app, { caller, params, body }) => setBan(app, caller, params.user_id, { banned: true, reason: body.reason }),
});

export const unbanUser = operation({
  id: 'unban-user',
  tag: 'Moderation',
  method: 'DELETE',
  path: '/users/{user_id}/ban',
  says: 'Lifts a user’s ban from the site. Allowed for site administrators.',
  access: user('write', 'staff'),
  params: UserPath,
  returns: noContent,
  errors: SITE,
  handle: (app, { caller, params }) => setBan(app, caller, params.user_id, { banned: false, reason: '' }),
});

export const userBanOperations = [banUser, unbanUser];
