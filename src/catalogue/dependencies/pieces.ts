import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** Nothing needs a mod that is gone for ever. Returns those that did: they may have nothing left that they need. */
export const removeDependenciesOfMod = (transaction: Transaction, mod: { id: number }): Promise<number[]> =>
  store.removeOfMod(transaction.query, mod.id);
