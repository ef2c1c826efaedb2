import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** Nobody waits for the decision over something that is gone. */
export const forgetHold = async (transaction: Transaction, resource: string, id: number): Promise<void> =>
  void (await store.removeHold(transaction.query, resource, id));
