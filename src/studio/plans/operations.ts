import { z } from 'zod';
import { PLANS } from '../../catalogue/plans/plans.ts';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { changePlan, definePlan, listPlans, showPlan } from './plans.ts';

const PlanName = z.enum(PLANS);

export const PlanLimits = z.object({
  mods_max: z.int().min(0).max(1_000_000_000).meta({ description: 'How many mods a game can have; 0 for any number.' }),
  storage_megabytes_max: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .meta({ description: 'How much its files can have together, in millions of bytes; 0 for any size.' }),
  may_sell: z.boolean().meta({ description: 'Whether a game can switch on monetization.' }),
});

const PlanObject = z.object({ plan: PlanName, ...PlanLimits.shape }).meta({ id: 'Plan' });
const GamePlanObject = z
  .object({
    game_id: Id,
    plan: PlanName,
    ...PlanLimits.shape,
    used: z.object({ mods: Integer, storage_megabytes: Integer }),
  })
  .meta({ id: 'GamePlan' });

export const getPlans = operation({
  id: 'get-plans',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/plans',
  says: 'Lists the plans and what they allow, the smallest first. For administrators of the site.',
  access: user('read', 'staff'),
  returns: ok(z.object({ data: z.array(PlanObject) }).meta({ id: 'Plans' })),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller }) => ({ data: await listPlans(app, caller) }),
});

export const editPlan = operation({
  id: 'edit-plan',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/plans/{plan}',
  says: 'Sets what a plan allows, for all games that have it; what they have already stays. For administrators of the site.',
  access: user('write', 'staff'),
  params: z.object({ plan: PlanName }),
  body: PlanLimits.partial(),
  returns: ok(PlanObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: (app, { caller, params, body }) => definePlan(app, caller, params.plan, body),
});

export const getGamePlan = operation({
  id: 'get-game-plan',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/plan',
  says: 'Shows the plan of a game, what it allows and how much of it is used. For the team of the game.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(GamePlanObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params }) => ({ ...params, ...(await showPlan(app, caller, params.game_id)) }),
});

export const editGamePlan = operation({
  id: 'edit-game-plan',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/game-plans',
  says: 'Gives a game another plan. What it has beyond the limits stays. For administrators of the site.',
  access: user('write', 'staff'),
  body: z.object({ game_id: Id, plan: PlanName }),
  returns: ok(GamePlanObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, body }) => ({
    game_id: body.game_id,
    ...(await changePlan(app, caller, body.game_id, body.plan)),
  }),
});

export const planOperations = [getPlans, editPlan, getGamePlan, editGamePlan];
