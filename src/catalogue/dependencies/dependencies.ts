import { type Caller, muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { auditByGame } from '../mods/auditing.ts';
import {
  isPublic,
  levelsOf,
  MOD_DELETED,
  type ModStanding,
  mayEdit,
  modChanged,
  modDocuments,
  reachedAmong,
  requireMod,
  type StoredMod,
} from '../mods/mods.ts';
import { applyRulesToMod } from '../mods/rule-checks.ts';
import { teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

const DEPTH_MAX = 5;
export const PER_REQUEST_MAX = 50;
const PER_MOD_MAX = 500;

/** The game's `dependency_option`. 1 and 2 differ in the default of new mods, which is stored in the mod's own bit. */
const DISALLOWED = 0;
const UNRESTRICTED = 3;
/** A bit of a mod's `community_options`. */
const ALLOW_DEPENDENCY = 1_024;

/** A mod in a list of dependencies. A mod that the caller may not see has only its identifiers. */
export interface Listed {
  readonly mod: StoredMod;
  readonly depth: number;
  readonly whole: boolean;
}

/** The dependencies of a mod in any state, because a client that installs the mod has to know them all. */
export async function listDependencies(
  app: App,
  caller: Caller,
  { gameId, modId, recursive }: { gameId: number; modId: number; recursive: boolean },
  request: ListRequest,
  language: Language,
  platform?: Platform,
): Promise<{ listed: Listed[]; total: number }> {
  await requireMod(app.db, caller, gameId, modId);
  if ((await store.optionOf(app.db, gameId)) === DISALLOWED) return { listed: [], total: 0 };
  const { rows, total } = await store.below(app.db.query, modId, recursive ? DEPTH_MAX : 1, request);
  const ids = rows.map(({ id }) => id);
  const documents = await modDocuments(app, ids, language, platform);
  const shown = await shownTo(app, caller, gameId, ids);
  const reached = new Set((await reachedAmong(app.db, caller, rows)).map(({ id }) => id));
  const listed = rows.flatMap(({ id, depth }) => {
    const mod = documents.get(id);
    return mod ? [{ mod, depth, whole: shown(mod) && reached.has(id) }] : [];
  });
  return { listed, total };
}

const BELOW_MAX = 500;

/** The direct and indirect dependencies of a mod, down to the depth of recursive lists. */
export async function dependenciesBelow(transaction: Transaction, gameId: number, modId: number): Promise<number[]> {
  const option = await store.optionOf(transaction, gameId);
  if (option === undefined || option === DISALLOWED) return [];
  const { rows } = await store.below(transaction.query, modId, DEPTH_MAX, { limit: BELOW_MAX, offset: 0 });
  return rows.map(({ id }) => id);
}

async function shownTo(app: App, caller: Caller, gameId: number, ids: readonly number[]) {
  const ofGame = await teamLevel(app.db, caller, 'games', gameId);
  const isMember = caller.kind === 'user' && caller.inTeams;
  const own = isMember ? await store.ownAmong(app.db.query, caller.userId, ids) : new Set<number>();
  return ({ mod_id, mod_status: status, mod_visible: visible }: StoredMod) =>
    isPublic({ status, visible }) || (status !== MOD_DELETED && (ofGame > 0 || own.has(mod_id)));
}

/** The mods that directly depend on this one, as far as the caller may see them. */
export async function listDependants(
  app: App,
  caller: Caller,
  gameId: number,
  modId: number,
  request: ListRequest,
  language: Language,
): Promise<{ mods: StoredMod[]; total: number }> {
  await requireMod(app.db, caller, gameId, modId);
  if ((await store.optionOf(app.db, gameId)) === DISALLOWED) return { mods: [], total: 0 };
  const everything = (await teamLevel(app.db, caller, 'games', gameId)) > 0;
  const userId = caller.kind === 'user' ? caller.userId : undefined;
  const onlooker = { everything, userId, muterId: everything ? undefined : muterOf(caller) };
  const { ids, total } = await store.dependants(app.db.query, modId, onlooker, request);
  const documents = await modDocuments(app, ids, language);
  return { mods: ids.flatMap((id) => documents.get(id) ?? []), total };
}

/** Whether the mod has dependencies, or is one. */
export const isLinked = (transaction: Transaction, modId: number): Promise<boolean> =>
  store.isLinked(transaction, modId);

export interface NewDependencies {
  readonly ids: readonly number[];
  /** Whether they replace the mod's dependencies. */
  readonly sync: boolean;
}

export async function addDependencies(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  { ids, sync }: NewDependencies,
): Promise<void> {
  await app.db.write(async (transaction) => {
    await store.lockGame(transaction, gameId);
    const mod = await requireEditable(transaction, caller, gameId, modId, 'MOD_DEPENDENCY_NO_ADD_PERMISSION');
    const option = await store.optionOf(transaction, gameId);
    if (option === undefined || option === DISALLOWED) throw new ApiError('MOD_DEPENDENCY_NO_ADD_PERMISSION');
    const present = await store.dependenciesOf(transaction, modId);
    const added = [...new Set(ids)].filter((id) => !present.includes(id));
    const removed = sync ? present.filter((id) => !ids.includes(id)) : [];
    if (added.length === 0 && removed.length === 0) return;
    if (present.length + added.length - removed.length > PER_MOD_MAX)
      throw refusal({ rule: 'array_max', values: { max: PER_MOD_MAX } });
    await requireMayDepend(transaction, caller, mod, added, option);
    const standing = await applyRulesToMod(app, transaction, caller, mod);
    await store.remove(transaction.query, modId, removed);
    await store.add(transaction.query, modId, added, app.clock.now());
    await modChanged(app, transaction, standing, { userId: caller.userId });
    await auditByGame(app, transaction, caller, mod, { action: 'mods.dependencies-add', data: { added, removed } });
  });
}

export async function removeDependencies(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  ids: readonly number[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireEditable(transaction, caller, gameId, modId, 'MOD_DEPENDENCY_NO_DELETE_PERMISSION');
    const removed = (await store.dependenciesOf(transaction, modId)).filter((id) => ids.includes(id));
    if (removed.length === 0) return;
    await store.remove(transaction.query, modId, removed);
    await modChanged(app, transaction, mod, { userId: caller.userId });
    await auditByGame(app, transaction, caller, mod, { action: 'mods.dependencies-remove', data: { removed } });
  });
}

async function requireEditable(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  modId: number,
  refused: ErrorName,
): Promise<ModStanding> {
  const mod = await requireMod(transaction, caller, gameId, modId);
  if (!mayEdit(await levelsOf(transaction, caller, mod))) throw new ApiError(refused);
  return mod;
}

/**
 * Requires other mods of the same game that the caller sees, that allow dependants, and that do not depend on this one.
 */
async function requireMayDepend(
  transaction: Transaction,
  caller: Caller,
  mod: ModStanding,
  ids: readonly number[],
  option: number,
): Promise<void> {
  const rows = new Map<number, store.ModRow | undefined>();
  for (const id of [mod.id, ...ids].sort((a, b) => a - b)) rows.set(id, await store.lockMod(transaction, id));
  for (const id of ids) await requireUsable(transaction, caller, mod, rows.get(id));
  if (await store.dependsAny(transaction.query, ids, mod.id)) throw refusal({ rule: 'dependency' });
  // Paid mods neither have dependencies nor are dependencies.
  const isPaid = [...rows.values()].some((row) => row!.price > 0);
  const isOpen = (id: number) => option === UNRESTRICTED || (rows.get(id)!.community_options & ALLOW_DEPENDENCY) !== 0;
  if (ids.length > 0 && (isPaid || !ids.every(isOpen))) throw new ApiError('MOD_DEPENDENCY_NO_ADD_PERMISSION');
}

/** A mod that the caller may not see gives the error of a missing one. */
async function requireUsable(
  transaction: Transaction,
  caller: Caller,
  mod: ModStanding,
  row: store.ModRow | undefined,
): Promise<void> {
  if (row?.game_id !== mod.game_id || row.id === mod.id || row.status === MOD_DELETED)
    throw refusal({ rule: 'dependency' });
  if (isPublic(row)) return;
  const levels = await levelsOf(transaction, caller, row);
  if (levels.mod === 0 && levels.game === 0) throw refusal({ rule: 'dependency' });
}

type Problem = { rule: 'dependency' } | { rule: 'array_max'; values: { max: number } };

const refusal = (problem: Problem) =>
  new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'dependencies', ...problem }] });
