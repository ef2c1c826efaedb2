import { type Caller, muterOf, type UserCaller, visibilityClass } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { GAME_ACCEPTED, isOpenToThirdParties, requireGame, requireVisibleGame } from '../games/games.ts';
import { isPreviewOpen } from '../games/preview-options.ts';
import { MANAGER, MODERATOR, teamLevel } from '../teams/teams.ts';
import { type SingleMod, singleMod } from './page.ts';
import * as store from './store.ts';

export const MOD_NOT_ACCEPTED = 0;
export const MOD_ACCEPTED = 1;
export const MOD_DELETED = 3;
export const MOD_PUBLIC = 1;

type Reader = Pick<Database, 'first'>;
type Shown = Pick<store.ModStanding, 'id' | 'game_id' | 'status' | 'visible'> & { readonly date_live?: number };

/** What is said of a mod that the caller may not see, to those who know of it anyway: otherwise there is none. */
interface Refusals {
  /** To people who were let in once, when its preview is over. */
  readonly closed?: ErrorName | undefined;
  /** To everyone, once it was public and so is no secret. */
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
 * What is not public exists only for the teams of the mod and its game, for its subscribers, and for those who may
 * preview it. The teams are also told that it was deleted.
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
  if (isPublic(mod)) return;
  const levels = await levelsOf(reader, caller, mod);
  if (levels.mod > 0 || levels.game > 0 || (await isSubscriber(reader, caller, mod))) return;
  await requirePreview(reader, caller, mod, refusals);
}

const isSubscriber = async (reader: Reader, caller: Caller, mod: Shown): Promise<boolean> =>
  caller.kind === 'user' && mod.status !== MOD_DELETED && (await store.isSubscribed(reader, mod.id, caller.userId));

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
 * Whether an answer about a mod may be kept for others of the caller's class. Members of teams and previewers have a
 * class of their own; subscribers have none, and see a hidden mod that others of theirs do not.
 */
export async function isVisibleToClass(reader: Reader, caller: Caller, id: number): Promise<boolean> {
  if (hasOwnClass(caller)) return true;
  const mod = await store.standingOf(reader, id);
  return mod !== undefined && isPublic(mod);
}

/** The same of a mod whose state is known. */
export const isKnownVisibleToClass = (caller: Caller, mod: Pick<Shown, 'status' | 'visible'>): boolean =>
  hasOwnClass(caller) || isPublic(mod);

const hasOwnClass = (caller: Caller) => caller.kind !== 'user' || visibilityClass(caller).startsWith('u');

/** The mod of this game, as far as the question who may do what with it needs it. */
export async function requireMod(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
  refusals?: Refusals,
): Promise<store.ModStanding> {
  await requireGame(reader, caller, gameId);
  return requireVisibleMod(reader, caller, gameId, id, refusals);
}

/** The same for whoever was let in by a link that was signed for them. */
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

/** The same for a change: on PostgreSQL others who change the mod wait from here on. */
export async function requireModForChange(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.ModRow> {
  const row = await store.rowForChange(transaction, id);
  await requireMod(transaction, caller, gameId, id);
  return row!;
}

/** Others who change one of these mods wait from here on. In one order for all, so that nobody waits in a circle. */
export async function lockMods(transaction: Transaction, ids: readonly number[]): Promise<Map<number, store.ModRow>> {
  const mods = new Map<number, store.ModRow>();
  for (const id of [...new Set(ids)].sort((one, other) => one - other)) {
    const row = await store.rowForChange(transaction, id);
    if (row) mods.set(id, row);
  }
  return mods;
}

/** Without a file a mod is not accepted. */
export const hasLiveFile = (transaction: Transaction, id: number) => store.hasLiveFile(transaction, id);

/** The mod in whatever state, deleted too, for those who decide over it. Others wait from here on. */
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

/** One read for what most ask for: a public mod of an accepted game. Where the database need not be waited for, nobody does. */
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
    return isOpen && isPublic(mod) ? mod : requireSeen(app, caller, gameId, id, mod, isOpen);
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

/** The same as columns. */
export async function requireModDocument(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
  language: Language,
  platform?: Platform,
): Promise<store.StoredMod> {
  const mod = await store.documentOf(reader, id, language, platform);
  if (mod?.game_id !== gameId || mod.game_status !== GAME_ACCEPTED || !isOpenToThirdParties(mod))
    await requireGame(reader, caller, gameId);
  const shown = mod && { id, game_id: mod.game_id, status: mod.mod_status, visible: mod.mod_visible };
  await refuseHidden(reader, caller, gameId, shown, { closed: 'MOD_NO_VIEW_PERMISSION' });
  return mod!;
}

/** Managers of the mod's team edit it, and so do those of its game. */
export const mayEdit = ({ mod, game }: Levels): boolean => mod >= MANAGER || game >= MANAGER;
/** Moderators of the game decide over mods, those of the mod do not. */
export const mayModerate = ({ game }: Levels): boolean => game >= MODERATOR;

/** What a list of a game's mods shows to this caller. Without filters by state it is what everyone sees. */
export async function scopeOfGame(
  reader: Reader,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  on: Pick<store.ModScope, 'platform' | 'platformStatus'> = {},
): Promise<store.ModScope> {
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
    memberId: caller.kind === 'user' && caller.inTeams ? caller.userId : undefined,
    // Who decides over mods has to see those of everyone.
    muterId: everything ? undefined : muterOf(caller),
  };
}

/** What someone has subscribed to, in every state but deleted. */
export const scopeOfSubscriber = (
  caller: UserCaller,
  request: ListRequest,
  on: Pick<store.ModScope, 'platform' | 'platformStatus'>,
): store.ModScope => ({
  ...asks(request),
  ...on,
  gameId: undefined,
  ownId: undefined,
  subscriberId: caller.userId,
  everything: false,
  memberId: caller.userId,
  muterId: muterOf(caller),
});

/** One's own mods, in every state but deleted unless that is asked for. */
export const scopeOfMember = (
  userId: number,
  request: ListRequest,
  platformStatus?: store.PlatformStatus,
): store.ModScope => ({
  ...asks(request),
  platformStatus,
  gameId: undefined,
  ownId: userId,
  everything: false,
  memberId: undefined,
});

function asks({ groups }: ListRequest): Pick<store.ModScope, 'asksStatus' | 'asksVisible'> {
  const names = new Set(groups.flat().map(({ column }) => column.name));
  return { asksStatus: names.has('status'), asksVisible: names.has('visible') };
}
