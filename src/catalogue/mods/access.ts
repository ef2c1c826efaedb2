import { type Caller, modReachOf, muterOf, type UserCaller, visibilityClass } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { reachesMod } from '../../platform/database/mod-reach.ts';
import type { ModInGame } from '../../platform/database/mods-in-games.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { GAME_ACCEPTED, isOpenToThirdParties, requireGame, requireVisibleGame } from '../games/games.ts';
import { isPreviewOpen } from '../games/preview-options.ts';
import { MANAGER, MODERATOR, teamLevel } from '../teams/teams.ts';
import * as documentStore from './document-store.ts';
import type * as listStore from './list-store.ts';
import { currentStats, withPending } from './pending-stats.ts';
import { type SingleMod, singleMod } from './single.ts';
import * as store from './store.ts';

export const MOD_NOT_ACCEPTED = 0;
export const MOD_ACCEPTED = 1;
export const MOD_DELETED = 3;
export const MOD_PUBLIC = 1;

type Reader = Pick<Database, 'first'>;
type Shown = Pick<store.ModStanding, 'id' | 'game_id' | 'status' | 'visible'> & { readonly date_live?: number };

/** Errors for callers who know that a hidden mod exists. Everyone else gets `MOD_NOT_FOUND`. */
interface Refusals {
  /** For previewers after the preview has ended. */
  readonly closed?: ErrorName | undefined;
  /** For everyone, once the mod has been public and its existence is no secret. */
  readonly hidden?: ErrorName;
}

export const isPublic = ({ status, visible }: Pick<Shown, 'status' | 'visible'>): boolean =>
  status === MOD_ACCEPTED && visible === MOD_PUBLIC;

/** The caller's levels in the teams of a mod and of its game. */
export interface Levels {
  readonly mod: number;
  readonly game: number;
}

export async function levelsOf(reader: Reader, caller: Caller, mod: Pick<Shown, 'id' | 'game_id'>): Promise<Levels> {
  return {
    mod: await teamLevel(reader, caller, 'mods', mod.id),
    game: await teamLevel(reader, caller, 'games', mod.game_id),
  };
}

/**
 * A mod that is not public exists only for the teams of the mod and its game, its subscribers and its previewers. The
 * teams also learn that it was deleted.
 */
async function refuseHidden(
  reader: Reader,
  caller: Caller,
  gameId: number,
  mod: Shown | undefined,
  refusals?: Refusals,
): Promise<void> {
  await refuseUnseen(reader, caller, gameId, mod, refusals);
  if (mod?.status === MOD_DELETED) throw new ApiError('MOD_DELETED');
}

async function refuseUnseen(
  reader: Reader,
  caller: Caller,
  gameId: number,
  mod: Shown | undefined,
  refusals?: Refusals,
): Promise<void> {
  if (mod?.game_id !== gameId) throw new ApiError('MOD_NOT_FOUND');
  const reach = modReachOf(caller);
  if (reach && !(await reachesMod(reader, reach, mod.id))) throw new ApiError('MOD_NOT_FOUND');
  if (isPublic(mod)) return;
  const levels = await levelsOf(reader, caller, mod);
  if (levels.mod > 0 || levels.game > 0 || (await isCustomer(reader, caller, mod))) return;
  await requirePreview(reader, caller, mod, refusals);
}

/** Those of the mods that are within the reach of the caller's credential. */
export async function reachedAmong<M extends { readonly id: number }>(
  db: Database,
  caller: Caller,
  mods: readonly M[],
): Promise<readonly M[]> {
  const reach = modReachOf(caller);
  if (!reach || mods.length === 0) return mods;
  const ids = await store.reachedAmong(
    db.query,
    reach,
    mods.map(({ id }) => id),
  );
  return mods.filter(({ id }) => ids.has(id));
}

/** Which of these mods of a game the caller sees, in as many queries for many mods as for one. */
export async function visibleAmong(
  db: Database,
  caller: Caller,
  gameId: number,
  mods: readonly Shown[],
): Promise<ReadonlySet<number>> {
  const reached = await reachedAmong(db, caller, mods);
  const ofGame = reached.filter(({ game_id, status }) => game_id === gameId && status !== MOD_DELETED);
  const hidden = ofGame.filter((mod) => !isPublic(mod)).map(({ id }) => id);
  const isMember = hidden.length > 0 && (await teamLevel(db, caller, 'games', gameId)) > 0;
  const isStranger = isMember || hidden.length === 0 || caller.kind !== 'user';
  const known = isStranger ? [] : await store.knownAmong(db.query, caller.userId, hidden);
  const unseen = new Set(isMember ? [] : hidden).difference(new Set(known));
  return new Set(ofGame.map(({ id }) => id)).difference(unseen);
}

/** A hidden mod stays visible to its subscribers and buyers. */
const isCustomer = async (reader: Reader, caller: Caller, mod: Shown): Promise<boolean> =>
  caller.kind === 'user' &&
  mod.status !== MOD_DELETED &&
  ((await store.isSubscribed(reader, mod.id, caller.userId)) || (await isPurchased(reader, mod.id, caller.userId)));

/** True when the user has bought the mod and was not refunded. */
export const isPurchased = (reader: Reader, id: number, userId: number): Promise<boolean> =>
  store.isPurchased(reader, id, userId);

async function requirePreview(
  reader: Reader,
  caller: Caller,
  mod: Shown,
  { closed = 'MOD_NOT_FOUND', hidden = 'MOD_NOT_FOUND' }: Refusals = {},
): Promise<void> {
  const isThere = mod.status !== MOD_DELETED;
  const isPreviewer = caller.kind === 'user' && caller.inTeams && isThere;
  const preview = isPreviewer ? await store.previewOf(reader, mod.id, caller.userId) : undefined;
  if (!preview) throw new ApiError(isThere && mod.date_live ? hidden : 'MOD_NOT_FOUND');
  if (!isPreviewOpen(preview)) throw new ApiError(closed);
}

/**
 * Whether a response about a mod may be cached for the caller's visibility class. Team members and previewers have a
 * class of their own; subscribers share theirs with callers who cannot see the hidden mod.
 */
export async function isVisibleToClass(reader: Reader, caller: Caller, id: number): Promise<boolean> {
  if (hasOwnClass(caller)) return true;
  const mod = await store.standingOf(reader, id);
  return mod !== undefined && isPublic(mod);
}

/** As `isVisibleToClass`, for a mod whose state is already loaded. */
export const isModVisibleToClass = (caller: Caller, mod: Pick<Shown, 'status' | 'visible'>): boolean =>
  hasOwnClass(caller) || isPublic(mod);

const hasOwnClass = (caller: Caller) => caller.kind !== 'user' || visibilityClass(caller).startsWith('u');

/** Returns the columns of a mod that permission checks need. */
export async function requireMod(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
  refusals?: Refusals,
): Promise<ModInGame> {
  return requireReadMod(reader, caller, gameId, await store.standingInGame(reader, id), refusals);
}

/** What the visibility of a mod depends on. */
type ShownInGame = Shown & Pick<ModInGame, 'game_status' | 'api_access_options'>;

/** As `requireMod`, for a mod that has been read with its game. A game that refuses the caller comes first. */
export async function requireReadMod<M extends ShownInGame>(
  reader: Reader,
  caller: Caller,
  gameId: number,
  mod: M | undefined,
  refusals?: Refusals,
): Promise<M> {
  const isOpen = mod?.game_id === gameId && mod.game_status === GAME_ACCEPTED && isOpenToThirdParties(mod);
  if (isOpen && isPublic(mod) && !modReachOf(caller)) return mod;
  if (!isOpen) await requireGame(reader, caller, gameId);
  await refuseHidden(reader, caller, gameId, mod, refusals);
  return mod!;
}

/** As `requireMod`, for a caller with a signed link: it also opens a game that is closed to third parties. */
export async function requireModByLink(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.ModStanding> {
  await requireVisibleGame(reader, caller, gameId);
  return requireVisibleMod(reader, caller, gameId, id);
}

async function requireVisibleMod(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
  refusals?: Refusals,
): Promise<store.ModStanding> {
  const mod = await store.standingOf(reader, id);
  await refuseHidden(reader, caller, gameId, mod, refusals);
  return mod!;
}

type LockedMod = store.ModRow & Pick<ModInGame, 'game_community_options'>;

/** As `requireMod`, with a row lock: on PostgreSQL concurrent changes of the mod wait. */
export async function requireModForChange(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<LockedMod> {
  const [row, { game_community_options }] = await answersTo([
    store.rowForChange(transaction, id),
    requireMod(transaction, caller, gameId, id),
  ]);
  return { ...row!, game_community_options };
}

/** Locks the rows of these mods in ascending order of id, so that two transactions cannot deadlock. */
export async function lockMods(transaction: Transaction, ids: readonly number[]): Promise<Map<number, store.ModRow>> {
  const mods = new Map<number, store.ModRow>();
  for (const id of [...new Set(ids)].sort((one, other) => one - other)) {
    const row = await store.rowForChange(transaction, id);
    if (row) mods.set(id, row);
  }
  return mods;
}

/** A mod needs a live file to be accepted. */
export const hasLiveFile = (transaction: Transaction, id: number) => store.hasLiveFile(transaction, id);

/** Returns and locks a mod in any state, including deleted, for moderators. */
export async function requireModInAnyState(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.ModRow> {
  const row = await store.rowForChange(transaction, id);
  await requireGame(transaction, caller, gameId);
  await refuseUnseen(transaction, caller, gameId, row);
  return row!;
}

/**
 * Reads a public mod of an accepted game, the most common request, in one query. Where the database answers
 * synchronously the result is no promise.
 */
export function requireSingleMod(
  app: App,
  caller: Caller,
  gameId: number,
  id: number,
  language: Language,
  platform?: Platform,
): SingleMod | Promise<SingleMod> {
  const found = singleMod(app, id, language, platform);
  const seen = (mod: SingleMod | undefined) => {
    const isOpen = mod?.game_id === gameId && mod.game_status === GAME_ACCEPTED && isOpenToThirdParties(mod);
    return isOpen && isPublic(mod) && !modReachOf(caller) ? mod : requireSeen(app, caller, gameId, id, mod, isOpen);
  };
  return found instanceof Promise ? found.then(seen) : seen(found);
}

async function requireSeen(
  app: App,
  caller: Caller,
  gameId: number,
  id: number,
  mod: SingleMod | undefined,
  isOpen: boolean,
): Promise<SingleMod> {
  if (!isOpen) await requireGame(app.db, caller, gameId);
  await refuseHidden(app.db, caller, gameId, mod && { ...mod, id }, { closed: 'MOD_NO_VIEW_PERMISSION' });
  return mod!;
}

/** As `requireSingleMod`, as columns instead of JSON. */
export async function requireModDocument(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
  language: Language,
  platform?: Platform,
): Promise<documentStore.StoredMod> {
  const found = await documentStore.documentOf(reader, id, language, platform);
  const mod = found?.pending ? await withCountsOf(reader, id, found) : found;
  if (mod?.game_id !== gameId || mod.game_status !== GAME_ACCEPTED || !isOpenToThirdParties(mod))
    await requireGame(reader, caller, gameId);
  const shown = mod && { id, game_id: mod.game_id, status: mod.mod_status, visible: mod.mod_visible };
  await refuseHidden(reader, caller, gameId, shown, { closed: 'MOD_NO_VIEW_PERMISSION' });
  return mod!;
}

type FoundDocument = NonNullable<Awaited<ReturnType<typeof documentStore.documentOf>>>;
const withCountsOf = async (reader: Reader, id: number, found: FoundDocument) =>
  'pending_subscribers_total' in found ? withPending(found, found) : { ...found, ...(await currentStats(reader, id)) };

/** Managers of the mod's team and of its game's team may edit it. */
export const mayEdit = ({ mod, game }: Levels): boolean => mod >= MANAGER || game >= MANAGER;
/** Moderators of the game decide about mods; moderators of the mod do not. */
export const mayModerate = ({ game }: Levels): boolean => game >= MODERATOR;

/** Which of a game's mods this caller may list. Without filters by state the list contains public mods only. */
export async function scopeOfGame(
  reader: Reader,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  on: OnPlatform = {},
): Promise<listStore.ModScope> {
  const asked = request.groups.flat().filter(({ column }) => column.name === 'status' || column.name === 'visible');
  const asksMore = asked.length > 0 || on.platformStatus !== undefined;
  const everything = asksMore && (await teamLevel(reader, caller, 'games', gameId)) >= MODERATOR;
  if (!everything && asked.some(({ operator }) => operator !== 'eq' && operator !== 'in'))
    throw new ApiError('MOD_FILTER_ADMIN_ONLY');
  return {
    ...asks(request),
    ...on,
    gameId,
    ownId: undefined,
    everything,
    reach: modReachOf(caller),
    memberId: caller.kind === 'user' && caller.inTeams ? caller.userId : undefined,
    // A moderator must also see mods of authors whom they have muted.
    muterId: everything ? undefined : muterOf(caller),
  };
}

type OnPlatform = Pick<listStore.ModScope, 'platform' | 'platformStatus'>;

/** Mods that the user has in some way, in every state but deleted. */
const scopeOfHolder = (caller: UserCaller, request: ListRequest, on: OnPlatform): listStore.ModScope => ({
  ...asks(request),
  ...on,
  gameId: undefined,
  ownId: undefined,
  everything: false,
  memberId: caller.userId,
});

/** The user's subscriptions, without those of muted authors. */
export const scopeOfSubscriber = (caller: UserCaller, request: ListRequest, on: OnPlatform): listStore.ModScope => ({
  ...scopeOfHolder(caller, request, on),
  subscriberId: caller.userId,
  muterId: muterOf(caller),
});

/** The public mods that a user submitted, in all public games. */
export const scopeOfAuthor = (caller: Caller, authorId: number): listStore.ModScope => ({
  gameId: undefined,
  ownId: undefined,
  authorId,
  muterId: muterOf(caller),
  everything: false,
  memberId: undefined,
  asksStatus: false,
  asksVisible: false,
});

/** The mods that the user has bought. */
export const scopeOfBuyer = (caller: UserCaller, request: ListRequest, on: OnPlatform): listStore.ModScope => ({
  ...scopeOfHolder(caller, request, on),
  buyerId: caller.userId,
});

/** The mods of the user's teams, in every state; deleted ones only on request. */
export const scopeOfMember = (
  userId: number,
  request: ListRequest,
  platformStatus?: listStore.PlatformStatus,
): listStore.ModScope => ({
  ...asks(request),
  platformStatus,
  gameId: undefined,
  ownId: userId,
  everything: false,
  memberId: undefined,
});

function asks({ groups }: ListRequest): Pick<listStore.ModScope, 'asksStatus' | 'asksVisible'> {
  const names = new Set(groups.flat().map(({ column }) => column.name));
  return { asksStatus: names.has('status'), asksVisible: names.has('visible') };
}
