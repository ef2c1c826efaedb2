import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export function toKvp(pair: string): { metakey: string; metavalue: string } {
  const colon = pair.indexOf(':');
  return { metakey: pair.slice(0, colon), metavalue: pair.slice(colon + 1) };
}

/** The metadata in a mod's documents. */
export async function tellMetadata(transaction: Transaction, mod: { id: number }) {
  return telling(await store.pairsOfMod(transaction, mod.id));
}

export const removeMetadataOfMod = async (transaction: Transaction, mod: { id: number }): Promise<void> =>
  void (await store.removeOfMod(transaction.query, mod.id));

export const telling = (pairs: readonly string[]) => () => ({ metadata_kvp: pairs.map(toKvp) });
