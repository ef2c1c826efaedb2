import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, MANAGER, MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { type Caller, modReachOf } from '../../platform/access/caller.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export const COLLECTION_ACCEPTED = 1;
export const COLLECTION_DELETED = 3;
export const COLLECTION_PUBLIC = 1;

/**
 * Bits of a game’s `community_options`, numbered as in the C++ SDK (docs/API-QUIRKS.md, 39): collections, and comments
 * on them.
 */
export const GAME_COLLECTIONS = 8_192;
export const GAME_COLLECTION_COMMENTS = 16_384;

type Reader = Pick<Database, 'first'>;
type Shown = Pick<store.CollectionRow, 'status' | 'visible'>;

export const isPublic = ({ status, visible }: Shown): boolean =>
  status === COLLECTION_ACCEPTED && visible === COLLECTION_PUBLIC;

/** The caller’s relation to a collection. */
export interface Standing {
  readonly isSubmitter: boolean;
  /** The caller’s level in the team of its game. */
  readonly level: number;
}

export async function standingOf(
  reader: Reader,
  caller: Caller,
  { submitted_by, game_id }: Pick<store.CollectionRow, 'submitted_by' | 'game_id'>,
): Promise<Standing> {
  return {
    isSubmitter: caller.kind === 'user' && caller.userId === submitted_by,
    level: await teamLevel(reader, caller, 'games', game_id),
  };
}

export const mayEdit = ({ isSubmitter, level }: Standing): boolean => isSubmitter || level >= MANAGER;
/** Only the author and administrators choose the mods of a collection. */
export const maySetMods = ({ isSubmitter, level }: Standing): boolean => isSubmitter || level >= ADMINISTRATOR;
export const mayModerate = ({ level }: Standing): boolean => level >= MODERATOR;

/** Whether the game has collections now. While they are switched off, existing ones are stored but hidden. */
export async function hasCollections(reader: Reader, caller: Caller, gameId: number): Promise<boolean> {
  const { community_options } = await requireGame(reader, caller, gameId);
  return (community_options & GAME_COLLECTIONS) !== 0;
}

/** A collection that is not public exists only for its submitter and the team of its game. */
async function refuseUnseen(
  reader: Reader,
  caller: Caller,
  gameId: number,
  collection: store.CollectionRow | undefined,
): Promise<void> {
  if (!(await hasCollections(reader, caller, gameId))) throw new ApiError('RESOURCE_NOT_FOUND');
  if (collection?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  const reach = modReachOf(caller);
  const isBeyond = reach?.id !== undefined && !(reach.kind === 'collection' && reach.id === collection.id);
  if (isBeyond) throw new ApiError('RESOURCE_NOT_FOUND');
  if (isPublic(collection)) return;
  const { isSubmitter, level } = await standingOf(reader, caller, collection);
  if (!isSubmitter && level === 0) throw new ApiError('RESOURCE_NOT_FOUND');
}

export async function requireCollection(
  reader: Reader,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.CollectionRow> {
  const collection = await store.byId(reader, id);
  await refuseUnseen(reader, caller, gameId, collection);
  return collection!;
}

/** Locks the collection for a change. */
export async function requireCollectionForChange(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  id: number,
): Promise<store.CollectionRow> {
  const collection = await store.rowForChange(transaction, id);
  await refuseUnseen(transaction, caller, gameId, collection);
  return collection!;
}

/** Invalidates cached responses with the collection, and every list that may contain it. */
export function invalidateCollection(
  transaction: Transaction,
  { id, game_id }: Pick<store.CollectionRow, 'id' | 'game_id'>,
): void {
  transaction.changed(`collections/${id}`);
  transaction.changed(`games/${game_id}/collections`);
}

/** The states that the request filters by. */
export function asks({ groups }: ListRequest): Pick<store.CollectionScope, 'asksStatus' | 'asksVisible'> {
  const names = new Set(groups.flat().map(({ column }) => column.name));
  return { asksStatus: names.has('status'), asksVisible: names.has('visible') };
}
