import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** It is gone for ever. */
export const removeFindingsOfMod = (transaction: Transaction, mod: { id: number }): Promise<void> =>
  store.removeOfMod(transaction.query, mod.id);
