import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { cancel } from './moving.ts';
import * as store from './store.ts';

/** Nothing is cooked for a mod that was deleted. */
export async function endCooksOfMod(app: App, transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const { id } of await store.openOf(transaction, 'mod_id', mod.id))
    await cancel(app, transaction, (await store.forChange(transaction, id))!);
}

export const removeCooksOfMod = (transaction: Transaction, mod: { id: number }): Promise<void> =>
  store.removeOfMod(transaction, mod.id);
