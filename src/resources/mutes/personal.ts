import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

/** What becomes of mutes when an account ends, or becomes part of another. */
export async function moveMutes(transaction: Transaction, from: number, to: number): Promise<void> {
  await store.move(transaction, from, to);
  transaction.changed(`mutes/${to}`);
}

export const eraseMutes = async (transaction: Transaction, userId: number): Promise<void> =>
  store.erase(transaction, userId);
