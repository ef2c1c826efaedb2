import type { Transaction } from '../../platform/database/database.ts';
import { lockGame, tagCountsChanged } from '../games/games.ts';
import { addToCounts } from '../tag-options/tag-options.ts';
import * as store from './store.ts';

/** Counts include public mods only, so they change when a mod becomes public or hidden. */
export async function countTagsOfMod(
  transaction: Transaction,
  mod: { id: number; game_id: number },
  difference: number,
): Promise<void> {
  const ids = (await store.tagsOfMod(transaction, mod.id)).map(({ id }) => id);
  if (ids.length === 0) return;
  await lockGame(transaction, mod.game_id);
  await store.showTagsOfMod(transaction, mod.id, difference > 0);
  await addToCounts(transaction.query, ids, difference);
  await store.addToPairs(transaction.query, pairsOf(ids), difference);
  await tagCountsChanged(transaction, mod.game_id);
}

/** Every pair of tags of a mod, the lower id first. */
export function pairsOf(ids: readonly number[]): [number, number][] {
  const sorted = [...ids].sort((a, b) => a - b);
  return sorted.flatMap((id, index) => sorted.slice(index + 1).map((other): [number, number] => [id, other]));
}
