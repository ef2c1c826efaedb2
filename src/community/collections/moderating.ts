import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { announceCollection, COLLECTION_DELETED, isPublic } from './access.ts';
import * as store from './store.ts';

/** Whoever may see it: for those who decide over it and ask that themselves. Others who change it wait from here on. */
export const holdCollection = (transaction: Transaction, id: number) => store.rowForChange(transaction, id);

/** Accepts a collection, takes it back, or deletes it; who may is asked before. */
export async function putCollectionStatus(
  app: App,
  transaction: Transaction,
  { id, date_live, visible }: store.CollectionRow,
  status: number,
  { by, reason }: { by: number; reason: string },
): Promise<void> {
  const now = app.clock.now();
  const isDeleted = status === COLLECTION_DELETED;
  const after = await store.change(transaction.query, id, {
    status,
    date_updated: now,
    date_live: date_live === 0 && isPublic({ status, visible }) ? now : date_live,
    date_disabled: isDeleted ? now : 0,
    deleted_by: isDeleted ? by : 0,
    deleted_reason: isDeleted ? reason : '',
  });
  announceCollection(transaction, after);
}
