import { GAME_ACCEPTED } from '../../catalogue/games/games.ts';
import { isPublic as isPublicMod, levelsOf, MOD_DELETED } from '../../catalogue/mods/mods.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isPublic, maySetMods, requireCollection, standingOf } from './access.ts';
import * as store from './store.ts';

/** The limit if the game sets none. */
const MODS_MAX_DEFAULT = 100;
/** A public collection shows at least this many mods. */
const PUBLIC_MODS_MIN = 1;
/** The bit of a mod’s `community_options` that allows it in collections. */
const ALLOW_IN_COLLECTIONS = 131_072;
/** The bit of a mod’s `monetization_options` that says it is sold. */
const MONETIZATION = 1;

export const limitOf = (collectionLimit: number, gameLimit: number): number =>
  collectionLimit || gameLimit || MODS_MAX_DEFAULT;

/** The requested mods of a collection: to replace the present ones, or to add. */
export interface WantedMods {
  readonly ids: readonly number[];
  readonly sync: boolean;
}

/** Adds mods to a collection in the order of the request. With `sync`, removes all others and puts these in order. */
export async function putMods(
  app: App,
  transaction: Transaction,
  caller: Caller,
  collection: store.CollectionRow,
  { ids, sync }: WantedMods,
): Promise<void> {
  const present = new Set(await store.modIdsOf(transaction.query, collection.id));
  const wanted = new Set(ids);
  const added = [...wanted].filter((id) => !present.has(id));
  const removed = sync ? [...present].filter((id) => !wanted.has(id)) : [];
  const after = new Set([...(sync ? [] : present), ...wanted]);
  await requireUsable(app, transaction, caller, collection.game_id, added);
  const needed = await store.needsOf(transaction.query, added);
  if (!needed.every((id) => after.has(id))) throw new ApiError('COLLECTIONS_MOD_MUST_HAVE_NO_DEPENDENCIES');
  const limit = limitOf(collection.limit_mods, await store.limitOfGame(transaction, collection.game_id));
  if (added.length > 0 && after.size > limit) throw new ApiError('COLLECTIONS_MIN_MODS_EXCEEDS_LIMIT');
  await store.removeMods(transaction.query, collection.id, removed);
  await store.addMods(transaction, collection.id, added, app.clock.now());
  if (sync) await store.orderMods(transaction.query, collection.id, [...wanted]);
}

/** A mod that the caller may not see gets the error of a missing one. */
async function requireUsable(
  app: App,
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  ids: readonly number[],
): Promise<void> {
  const found = await store.candidates(app.db, transaction, ids);
  for (const id of ids) {
    const mod = found.get(id);
    if (!mod || mod.status === MOD_DELETED) throw new ApiError('COLLECTIONS_MODS_NOT_FOUND');
    if (mod.game_id !== gameId) throw refusalOfOtherGame(mod);
    if (!isPublicMod(mod)) throw await refusalOfHidden(transaction, caller, mod);
    if (mod.price > 0 || (mod.monetization_options & MONETIZATION) !== 0)
      throw new ApiError('COLLECTIONS_MOD_MUST_BE_FREE');
    if ((mod.community_options & ALLOW_IN_COLLECTIONS) === 0) throw new ApiError('COLLECTIONS_MOD_DISALLOWED');
  }
}

/** A mod that begins to sell leaves all collections: what they contain is free, and no curator can keep it from selling. */
export async function leaveCollections(transaction: Transaction, modId: number): Promise<void> {
  for (const id of await store.removeModEverywhere(transaction.query, modId)) transaction.changed(`collections/${id}`);
}

const refusalOfOtherGame = (mod: store.Candidate) =>
  new ApiError(
    isPublicMod(mod) && mod.game_status === GAME_ACCEPTED
      ? 'COLLECTIONS_MOD_MUST_BE_SAME_GAME'
      : 'COLLECTIONS_MODS_NOT_FOUND',
  );

async function refusalOfHidden(transaction: Transaction, caller: Caller, mod: store.Candidate): Promise<ApiError> {
  const levels = await levelsOf(transaction, caller, mod);
  return new ApiError(levels.mod > 0 || levels.game > 0 ? 'COLLECTIONS_MOD_NOT_PUBLIC' : 'COLLECTIONS_MODS_NOT_FOUND');
}

/** An empty collection must not be public. */
export async function requireEnoughMods(transaction: Transaction, collection: store.CollectionRow): Promise<void> {
  if (!isPublic(collection)) return;
  const shown = await store.publicModsOf(transaction.query, collection.id);
  if (shown.length < PUBLIC_MODS_MIN) throw new ApiError('COLLECTIONS_NOT_ENOUGH_PUBLIC_MODS');
}

/** A claim older than this is abandoned. */
const REGISTERING_SECONDS = 60;

/**
 * When two requests set the mods of a collection concurrently, the second gets a conflict error instead of silently
 * undoing the first. Permissions are checked before the conflict.
 */
export async function whileRegistering<T>(
  app: App,
  caller: Caller,
  gameId: number,
  id: number,
  work: () => Promise<T>,
): Promise<T> {
  const now = app.clock.now();
  const until = now + REGISTERING_SECONDS;
  await app.db.write(async (transaction) => {
    const collection = await requireCollection(transaction, caller, gameId, id);
    if (!maySetMods(await standingOf(transaction, caller, collection)))
      throw new ApiError('COLLECTIONS_NO_SET_PERMISSION');
    if (!(await store.claim(transaction, id, now, until)))
      throw new ApiError('COLLECTIONS_CONFLICT_ALREADY_REGISTERING_MODS');
  });
  try {
    return await work();
  } finally {
    await app.db.write(async (transaction) => store.release(transaction, id, until));
  }
}
