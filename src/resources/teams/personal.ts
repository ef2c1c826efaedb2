import { accessChanged } from '../../access/credentials.ts';
import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

/** What becomes of seats in teams when an account ends, or becomes part of another. Leaders hand over before. */
export async function moveSeats(transaction: Transaction, from: number, to: number): Promise<void> {
  await store.moveMember(transaction, from, to);
  accessChanged(transaction);
}

export async function eraseSeats(transaction: Transaction, userId: number): Promise<void> {
  await store.removeEverywhere(transaction, userId);
  accessChanged(transaction);
}
