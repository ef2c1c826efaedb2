import { requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import {
  assignPlan,
  type Limits,
  limitsOfPlans,
  PLANS,
  type Plan,
  planOfGame,
  putPlan,
  type Usage,
  usageOf,
} from '../../catalogue/plans/plans.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit, auditGame } from '../../records/audit/audit.ts';

export interface DefinedPlan extends Limits {
  readonly plan: Plan;
}

export async function listPlans(app: App, { admin }: UserCaller): Promise<DefinedPlan[]> {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return [...(await limitsOfPlans(app.db))].map(([plan, limits]) => ({ plan, ...limits }));
}

/** Site administrators define what a plan allows. */
export async function definePlan(
  app: App,
  caller: UserCaller,
  plan: Plan,
  changes: { readonly [K in keyof Limits]?: Limits[K] | undefined },
): Promise<DefinedPlan> {
  if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return app.db.write(async (transaction) => {
    const sent = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const limits: Limits = { ...(await limitsOfPlans(transaction)).get(plan)!, ...sent };
    await putPlan(app, transaction, plan, limits);
    const subject = { resource: 'plans', id: PLANS.indexOf(plan), gameId: 0 };
    await audit(app, transaction, { actor: caller.userId, action: 'plans.set', subject, data: { plan, ...sent } });
    return { plan, ...limits };
  });
}

export interface PlanOfGame extends DefinedPlan {
  readonly used: Usage;
}

/** The plan of a game and how much of it is used, for its team. */
export async function showPlan(app: App, caller: UserCaller, gameId: number): Promise<PlanOfGame> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  const plan = await planOfGame(app.db, gameId);
  return { plan, ...(await limitsOfPlans(app.db)).get(plan)!, used: await usageOf(app.db, gameId) };
}

/** Site administrators give a game a plan. */
export async function changePlan(app: App, caller: UserCaller, gameId: number, plan: Plan): Promise<PlanOfGame> {
  if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  await app.db.write(async (transaction) => {
    await requireGameForChange(transaction, caller, gameId);
    await assignPlan(app, transaction, gameId, plan);
    await auditGame(app, transaction, caller, gameId, { action: 'plan', data: { plan } });
  });
  return showPlan(app, caller, gameId);
}
