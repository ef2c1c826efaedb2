import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

/** From the smallest to the largest. A game without a plan has the first one. */
export const PLANS = ['basic', 'pro', 'growth', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

export interface Limits {
  /** 0 for any number. */
  readonly mods_max: number;
  /** 0 for any size. */
  readonly storage_megabytes_max: number;
  readonly may_sell: boolean;
}

const UNLIMITED: Limits = { mods_max: 0, storage_megabytes_max: 0, may_sell: true };
const MEGABYTE = 1_000_000;

/** The error names the smallest plan that would be enough. */
const REFUSALS: Readonly<Record<Plan, ErrorName>> = {
  basic: 'GAME_RESTRICTED_FEATURE_PRO',
  pro: 'GAME_RESTRICTED_FEATURE_PRO',
  growth: 'GAME_RESTRICTED_FEATURE_GROWTH',
  enterprise: 'GAME_RESTRICTED_FEATURE_ENTERPRISE',
};

export const PLAN_REFUSALS = [
  'GAME_RESTRICTED_FEATURE_PRO',
  'GAME_RESTRICTED_FEATURE_GROWTH',
  'GAME_RESTRICTED_FEATURE_ENTERPRISE',
] as const satisfies readonly ErrorName[];

type Reader = Pick<Database, 'first' | 'all'>;

/** The limits of all plans, those that the operator has not defined included. */
export async function limitsOfPlans(reader: Pick<Database, 'all'>): Promise<ReadonlyMap<Plan, Limits>> {
  const rows = await store.defined(reader);
  const limitsOf = (plan: Plan): Limits => {
    const row = rows.find(({ name }) => name === plan);
    if (!row) return UNLIMITED;
    const { mods_max, storage_megabytes_max, may_sell } = row;
    return { mods_max, storage_megabytes_max, may_sell: may_sell === 1 };
  };
  return new Map(PLANS.map((plan) => [plan, limitsOf(plan)]));
}

export async function planOfGame(reader: Pick<Database, 'first'>, gameId: number): Promise<Plan> {
  const assigned = await store.planOf(reader, gameId);
  return PLANS.find((plan) => plan === assigned) ?? PLANS[0];
}

/** The plan and the limits that a game is near to; undefined if no plan limits what is asked about. */
async function limitedBy(reader: Reader, gameId: number, isLimit: (limits: Limits) => boolean) {
  const limits = await limitsOfPlans(reader);
  return [...limits.values()].some(isLimit) ? { limits, plan: await planOfGame(reader, gameId) } : undefined;
}

type Limited = NonNullable<Awaited<ReturnType<typeof limitedBy>>>;

function requireAllowed({ limits, plan }: Limited, allows: (limits: Limits) => boolean): void {
  if (allows(limits.get(plan)!)) return;
  const larger = PLANS.slice(PLANS.indexOf(plan) + 1).find((each) => allows(limits.get(each)!));
  throw new ApiError(REFUSALS[larger ?? 'enterprise']);
}

/** Transactions that use up what a plan limits wait for each other, so that they count what the others added. */
const lockUsage = (transaction: Transaction, gameId: number) => takeAdvisoryLock(transaction, `plans/${gameId}`);

/** Refuses one more mod than the plan of the game has. */
export async function requireRoomForMod(transaction: Transaction, gameId: number): Promise<void> {
  const limited = await limitedBy(transaction, gameId, ({ mods_max }) => mods_max > 0);
  if (!limited) return;
  await lockUsage(transaction, gameId);
  const { mods } = await store.usageOf(transaction, gameId);
  requireAllowed(limited, ({ mods_max }) => mods_max === 0 || mods < mods_max);
}

/** Refuses a file that does not fit into the storage of the game's plan. */
export async function requireRoomForFile(transaction: Transaction, gameId: number, bytes: number): Promise<void> {
  const limited = await limitedBy(transaction, gameId, ({ storage_megabytes_max }) => storage_megabytes_max > 0);
  if (!limited) return;
  await lockUsage(transaction, gameId);
  const used = (await store.usageOf(transaction, gameId)).bytes + bytes;
  requireAllowed(limited, ({ storage_megabytes_max: most }) => most === 0 || used <= most * MEGABYTE);
}

/** Refuses to switch sales on where the plan of the game has none. */
export async function requirePlanThatSells(reader: Reader, gameId: number): Promise<void> {
  const limited = await limitedBy(reader, gameId, ({ may_sell }) => !may_sell);
  if (limited) requireAllowed(limited, ({ may_sell }) => may_sell);
}

export interface Usage {
  readonly mods: number;
  readonly storage_megabytes: number;
}

export async function usageOf(reader: Reader, gameId: number): Promise<Usage> {
  const { mods, bytes } = await store.usageOf(reader, gameId);
  return { mods, storage_megabytes: Math.ceil(bytes / MEGABYTE) };
}

/** Defines the limits of a plan, for all games that have it. What a game has beyond them stays. */
export const putPlan = (app: App, transaction: Transaction, plan: Plan, { may_sell, ...limits }: Limits) =>
  store.put(transaction, { name: plan, ...limits, may_sell: Number(may_sell), date_updated: app.clock.now() });

export const assignPlan = (app: App, transaction: Transaction, gameId: number, plan: Plan) =>
  store.assign(transaction, gameId, plan, app.clock.now());
