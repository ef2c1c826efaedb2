import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

export function toKvp(pair: string): { metakey: string; metavalue: string } {
  const colon = pair.indexOf(':');
  return { metakey: pair.slice(0, colon), metavalue: pair.slice(colon + 1) };
}

/** The metadata in a mod's documents. */
export async function tellMetadata(transaction: Transaction, mod: { id: number }) {
  const metadata_kvp = (await store.pairsOfMod(transaction, mod.id)).map(toKvp);
  return () => ({ metadata_kvp });
}

export const removeMetadataOfMod = async (transaction: Transaction, mod: { id: number }): Promise<void> =>
  void (await store.removeOfMod(transaction.query, mod.id));
