import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export async function removeReleasesOfMod(transaction: Transaction, mod: { id: number }): Promise<void> {
  await store.removeOfMod(transaction, mod.id);
  await store.removeNewcomers(transaction, 'mods', mod.id);
}
