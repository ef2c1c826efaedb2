import { requireGame } from '../../catalogue/games/games.ts';
import { auditByGame } from '../../catalogue/mods/auditing.ts';
import { levelsOf, type ModRow, mayEdit, requireModForChange } from '../../catalogue/mods/mods.ts';
import { requireMayAddMods } from '../../catalogue/restrictions/restrictions.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { ModfileRow, ModPath } from '../modfiles/modfiles.ts';
import { notAmong } from '../modfiles/platforms.ts';
import { findSource, lockedPlatforms, newestSource, requireMember, targetsOf } from '../modfiles/sources.ts';
import { cookListing } from './listing.ts';
import { COOK, cooksScope, FAILURE } from './states.ts';
import * as store from './store.ts';
import { cancel, fail, recordCookEvent, requeue } from './transitions.ts';

export type { ShownCook } from './store.ts';

/** The `cloud_cooking_status` of a game whose build is in use. */
const CLOUD_COOKING_ENABLED = 4;
const DAY = 86_400;
const LOGS_SECONDS = 30 * DAY;
/** In lists the end of the log is enough. */
const LINES_IN_LISTS = 20;
export const LINES_MAX = 2_000;

/** A cook with the last lines of its log. */
export interface CookWithLogs {
  readonly cook: store.ShownCook;
  readonly logs: readonly string[];
}

/** A source to cook, and the user that requested it. */
interface Order {
  readonly source: Pick<ModfileRow, 'id' | 'game_id' | 'mod_id'>;
  readonly platforms: readonly string[];
  readonly userId: number;
  readonly active: boolean;
}

/** Adds one cook per platform, unless one is already open for the same source. */
async function orderCooks(app: App, transaction: Transaction, order: Order): Promise<store.ShownCook[]> {
  const cooks: store.ShownCook[] = [];
  for (const platform of order.platforms) {
    const open = await store.openFor(transaction, order.source.id, platform);
    cooks.push(open ?? (await addCook(app, transaction, order, platform)));
  }
  return cooks;
}

async function addCook(
  app: App,
  transaction: Transaction,
  { source, userId, active }: Order,
  platform: string,
): Promise<store.ShownCook> {
  const now = app.clock.now();
  const cook = await store.add(transaction, {
    cook_uuid: app.random.uuid(),
    game_id: source.game_id,
    mod_id: source.mod_id,
    source_id: source.id,
    result_id: 0,
    platform,
    status: COOK.WAITING,
    active: Number(active),
    attempts: 0,
    progress: 0,
    runner_id: null,
    claim: null,
    date_lease: 0,
    error: '',
    metadata: '[]',
    started_by: userId,
    date_added: now,
    date_updated: now,
  });
  transaction.changed(cooksScope(source.game_id));
  await recordCookEvent(app, transaction, cook, 'COOK_QUEUED');
  return cook;
}

/** Cooks a new source for the platforms that the game cooks: those of its runners, or all of them in the cloud. */
export async function cookNewSource(
  app: App,
  transaction: Transaction,
  source: ModfileRow,
  active: boolean,
): Promise<void> {
  const cooking = await store.cookingOf(transaction, source.game_id);
  const isCooked = (platform: string) => cooking.status === CLOUD_COOKING_ENABLED || cooking.platforms.has(platform);
  const platforms = (await targetsOf(transaction, source.id)).filter(isCooked);
  await orderCooks(app, transaction, { source, platforms, userId: source.submitted_by, active });
}

export interface CookWish {
  /** Default: the newest source. */
  readonly sourceId?: number | undefined;
  /** Default: all platforms of the source. */
  readonly platforms?: readonly string[] | undefined;
  readonly active: boolean;
}

/** Starts cooks on request. They wait if no runner exists yet. */
export const startCooks = (app: App, caller: UserCaller, which: ModPath, wish: CookWish): Promise<store.ShownCook[]> =>
  app.db.write(async (transaction) => {
    const mod = await requireCook(transaction, caller, which);
    await requireMayAddMods(transaction, caller, which.gameId);
    const source = await requireSource(transaction, which, wish.sourceId);
    const locked = await lockedPlatforms(transaction, which.gameId);
    const targets = (await targetsOf(transaction, source.id)).filter((platform) => locked.includes(platform));
    if (targets.length === 0) throw new ApiError('GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES');
    const platforms = wish.platforms?.length ? wish.platforms : targets;
    if (!platforms.every((platform) => targets.includes(platform)))
      throw notAmong(
        'platforms',
        targets.map((platform) => ({ platform })),
      );
    const { userId } = caller;
    const cooks = await orderCooks(app, transaction, { source, platforms, userId, active: wish.active });
    await auditByGame(app, transaction, caller, mod, { action: 'mods.cooks-start', data: { source: source.id } });
    return cooks;
  });

/** Locks the mod. Cooking needs the same permission as adding files. */
async function requireCook(transaction: Transaction, caller: Caller, which: ModPath): Promise<ModRow> {
  const mod = await requireModForChange(transaction, caller, which.gameId, which.modId);
  if (!mayEdit(await levelsOf(transaction, caller, mod))) throw new ApiError('MODFILE_NO_UPLOAD_PERMISSION');
  return mod;
}

async function requireSource(
  transaction: Transaction,
  { modId }: ModPath,
  id: number | undefined,
): Promise<ModfileRow> {
  const source = await (id === undefined ? newestSource(transaction, modId) : findSource(transaction, id));
  if (source?.mod_id !== modId) throw new ApiError('MODFILE_NOT_FOUND');
  return source;
}

/** A cook that has ended stays as it is, and the response shows how. */
export const cancelCook = (app: App, caller: UserCaller, which: ModPath, uuid: string): Promise<CookWithLogs> =>
  app.db.write(async (transaction) => {
    const mod = await requireCook(transaction, caller, which);
    const { id } = await requireOfMod(transaction, which, uuid);
    const cook = (await store.forChange(transaction, id))!;
    const after = cook.status < COOK.SUCCEEDED ? await cancel(app, transaction, cook) : cook;
    await auditByGame(app, transaction, caller, mod, { action: 'mods.cooks-cancel', data: { cook: uuid } });
    return withLogs(transaction.query, after);
  });

/** Cancels the cooks of a deleted source. */
export async function cancelCooksOfSource(app: App, transaction: Transaction, sourceId: number): Promise<void> {
  for (const { id } of await store.openOf(transaction, 'source_id', sourceId))
    await cancel(app, transaction, (await store.forChange(transaction, id))!);
}

async function requireOfMod(
  reader: Pick<Transaction, 'first'>,
  { gameId, modId }: ModPath,
  uuid: string,
): Promise<store.ShownCook> {
  const cook = await store.byUuid(reader, uuid);
  if (cook?.mod_id !== modId || cook.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  return cook;
}

export async function requireCookOfMod(app: App, caller: Caller, which: ModPath, uuid: string): Promise<CookWithLogs> {
  await requireMember(app.db, caller, which);
  return withLogs(app.db.query, await requireOfMod(app.db, which, uuid));
}

async function withLogs(query: App['db']['query'], cook: store.ShownCook): Promise<CookWithLogs> {
  const logs = await store.logsOf(query, [cook.id], LINES_MAX);
  return { cook, logs: logs.get(cook.id)! };
}

export async function listCooksOfMod(app: App, caller: Caller, which: ModPath, request: ListRequest) {
  await requireMember(app.db, caller, which);
  return listed(app, { gameId: which.gameId, modId: which.modId }, request);
}

/** All cooks of a game, including those of hidden mods. Allowed for its team. */
export async function listCooksOfGame(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return listed(app, { gameId }, request);
}

async function listed(app: App, scope: Parameters<typeof store.list>[1], request: ListRequest) {
  const { rows, total } = await store.list(app.db.query, scope, cookListing, request);
  const ids = rows.map(({ id }) => id);
  const logs = await store.logsOf(app.db.query, ids, LINES_IN_LISTS);
  return { cooks: rows.map((cook) => ({ cook, logs: logs.get(cook.id)! })), total };
}

/** Requeues the cooks of runners that stopped reporting, and ends those that can no longer be cooked. */
export async function requeueExpiredCooks(app: App): Promise<void> {
  const { dialect } = app.db;
  await app.db.write(async (transaction) => {
    const ids = await store.expired(transaction, dialect, app.clock.now());
    for (const id of ids) await requeue(app, transaction, (await store.forChange(transaction, id))!, FAILURE.LEASE);
  });
  await app.db.write(async (transaction) => {
    const ids = await store.stranded(transaction, dialect);
    for (const id of ids) await fail(app, transaction, (await store.forChange(transaction, id))!, FAILURE.SOURCE);
  });
}

export const forgetLogs = (app: App): Promise<void> =>
  app.db.write(async (transaction) => store.forgetLogs(transaction, app.clock.now() - LOGS_SECONDS));
