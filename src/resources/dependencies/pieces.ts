import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

/** Nothing needs a mod that is gone for ever. Those that did may have nothing left that they need, so they are stale. */
export async function removeDependenciesOfMod(transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const id of await store.removeOfMod(transaction.query, mod.id)) transaction.changed(`mods/${id}`);
}
