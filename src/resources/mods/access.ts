import type { Caller } from '../../access/caller.ts';
import type { Database, Transaction } from '../../database/database.ts';
import type { ListRequest } from '../../database/listing.ts';
import { ApiError, type ErrorName } from '../../errors/catalogue.ts';
import type { Language } from '../../localisation/languages.ts';
import type { Platform } from '../../platforms.ts';
import { GAME_ACCEPTED, isOpenToThirdParties, requireGame, requireShownGame } from '../games/games.ts';
import { isPreviewOpen } from '../previews/pieces.ts';
import { MANAGER, MODERATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

export const MOD_NOT_ACCEPTED = 0;
export const MOD_ACCEPTED = 1;
export const MOD_DELETED = 3;
export const MOD_PUBLIC = 1;

type Reader = Pick<Database, 'first'>;
type Shown = Pick<store.ModStanding, 'id' | 'game_id' | 'status' | 'visible'>;

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
 * What is not public exists only for the teams of the mod and its game, and for those who may preview it. The teams are
 * also told that it was deleted.
 */
async function refuseHidden(
  reader: Reader,
  caller: Caller,
  gameId: number,
  mod: Shown | undefined,
  closed?: ErrorName,
): Promise<void> {
  await refuseUnseen(reader, caller, gameId, mod, closed);
  if (mod?.status === MOD_DELETED) throw new ApiError('MOD_DELETED');
}

async function refuseUnseen(
  reader: Reader,
  caller: Caller,
  gameId: number,
  mod: Shown | undefined,
  closed?: ErrorName,
): Promise<void> {
  if (mod?.game_id !== gameId) throw new ApiError('MOD_NOT_FOUND');
  if (isPublic(mod)) return;
  const levels = await levelsOf(reader, caller, mod);
  if (levels.mod === 0 && levels.game === 0) await requirePreview(reader, caller, mod, closed);
}

/** `closed` is for those who were let in once, and so know of the mod, when its preview is over. */
async function requirePreview(
  reader: Reader,
  caller: Caller,
  mod: Shown,
  closed: ErrorName = 'MOD_NOT_FOUND',
): Promise<void> {
  const isPreviewer = caller.kind === 'user' && caller.inTeams && mod.status !== MOD_DELETED;
  const preview = isPreviewer ? await store.previewOf(reader, mod.id, caller.userId) : undefined;
  if (!preview) throw new ApiError('MOD_NOT_FOUND');
  if (!isPreviewOpen(preview)) throw new ApiError(closed);
}

/** The mod of this game, as far as the question who may do what with it needs it. */
export async function requireMod(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.ModStanding> {
  await requireGame(reader, caller, gameId);
  return requireShownMod(reader, caller, gameId, id);
}

/** The same for whoever was let in by a link that was signed for them. */
export async function requireModByLink(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.ModStanding> {
  await requireShownGame(reader, caller, gameId);
  return requireShownMod(reader, caller, gameId, id);
}

async function requireShownMod(reader: Reader, caller: Caller, gameId: number, id: number): Promise<store.ModStanding> {
  const mod = await store.standingOf(reader, id);
  await refuseHidden(reader, caller, gameId, mod);
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

/** One read for what most ask for: a public mod of an accepted game. */
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
  await refuseHidden(reader, caller, gameId, shown, 'MOD_NO_VIEW_PERMISSION');
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
  };
}

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
