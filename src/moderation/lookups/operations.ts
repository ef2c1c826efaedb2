import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import { user } from '../../platform/access/caller.ts';
import { Id } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { OWNED_RESOURCES, ownerOf } from './lookups.ts';

export const getResourceOwner = operation({
  id: 'get-resource-owner',
  tag: 'General',
  method: 'POST',
  path: '/general/ownership',
  says: 'Shows the user who submitted a game, a mod or a file.',
  access: user('read'),
  unlocked: 'nothing is written',
  body: z.object({ resource_type: z.enum(OWNED_RESOURCES), resource_id: Id }),
  returns: ok(UserObject),
  errors: ['GAME_NOT_FOUND', 'MOD_NOT_FOUND', 'MODFILE_NOT_FOUND', 'USER_NOT_FOUND'],
  handle: async (app, { caller, body, portal }) =>
    toUserObject(app, await ownerOf(app, caller, body.resource_type, body.resource_id), portal),
});

export const lookupOperations = [getResourceOwner];
