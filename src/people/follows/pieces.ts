import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** Neither of two people follows the other any more. */
export async function endFollowsBetween(transaction: Transaction, one: number, other: number): Promise<void> {
  await store.remove(transaction, one, other);
  await store.remove(transaction, other, one);
}

/** Of this person no follow is left, in either direction, where one has blocked the other. */
export const endFollowsOfBlocked = async (transaction: Transaction, userId: number): Promise<void> =>
  void (await store.removeBlocked(transaction, userId));
