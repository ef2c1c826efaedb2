import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** A mod that is gone for ever is in no collection. What a collection tells of its mods follows. */
export async function removeModFromCollections(transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const id of await store.removeModEverywhere(transaction.query, mod.id)) transaction.changed(`collections/${id}`);
}
