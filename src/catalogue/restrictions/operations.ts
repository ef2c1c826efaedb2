import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import { user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { GamePath, Id, Integer, PathId, page, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import {
  lift,
  listRestrictions,
  OPTIONS_ALL,
  type RestrictionRow,
  restrict,
  restrictionListing,
} from './restrictions.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const OPTIONS = 'Bits: 1 may not add mods, 2 may not add guides, 4 may not comment, 8 may not rate, 16 may not report';
const RestrictionPath = GamePath.extend({ user_id: PathId });

export const RestrictionObject = z
  .object({
    user: UserObject,
    options: Integer.meta({ description: OPTIONS }),
    reason: z.string(),
    restricted_by: Id,
    date_added: Timestamp,
  })
  .meta({ id: 'Restriction' });

const toRestriction = (
  app: App,
  row: RestrictionRow,
  portal: Portal | undefined,
): z.input<typeof RestrictionObject> => ({
  user: toUserObject(app, row, portal),
  options: row.options,
  reason: row.reason,
  restricted_by: row.restricted_by,
  date_added: row.date_added,
});

export const getGameRestrictions = operation({
  id: 'get-game-restrictions',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/restrictions',
  says: 'Lists the users who are restricted in a game. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: restrictionListing,
  returns: ok(pageOf(RestrictionObject)),
  errors: REFUSALS,
  handle: async (app, { caller, params, list, portal }) => {
    const { rows, total } = await listRestrictions(app, caller, params.game_id, list);
    return page(
      rows.map((row) => toRestriction(app, row, portal)),
      total,
      list,
    );
  },
});

export const restrictUserInGame = operation({
  id: 'restrict-user-in-game',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}/restrictions/{user_id}',
  says: 'Restricts a user from adding mods or guides to a game, or from commenting, rating or reporting in it. For its team, whose members cannot be restricted themselves.',
  access: user('write', 'team'),
  ends: ['users'],
  params: RestrictionPath,
  body: z.object({
    options: z.int().min(1).max(OPTIONS_ALL).meta({ description: OPTIONS }),
    reason: z.string().trim().max(500).default(''),
  }),
  returns: ok(RestrictionObject),
  errors: [...REFUSALS, 'USER_NOT_FOUND', 'USER_ADMIN_CANT_MODERATE_SELF'],
  handle: async (app, { caller, params, body, portal }) =>
    toRestriction(app, await restrict(app, caller, params.game_id, params.user_id, body), portal),
});

export const liftRestrictionInGame = operation({
  id: 'lift-restriction-in-game',
  tag: 'Games',
  method: 'DELETE',
  path: '/games/{game_id}/restrictions/{user_id}',
  says: 'Lifts the restrictions of a user in a game. For its team.',
  access: user('write', 'team'),
  params: RestrictionPath,
  returns: noContent,
  errors: REFUSALS,
  handle: (app, { caller, params }) => lift(app, caller, params.game_id, params.user_id),
});

export const restrictionOperations = [getGameRestrictions, restrictUserInGame, liftRestrictionInGame];
