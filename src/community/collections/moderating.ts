import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { COLLECTION_DELETED, invalidateCollection, isPublic } from './access.ts';
import * as store from './store.ts';

/** Locks the collection without a visibility check. The caller has to check the permission to moderate. */
export const lockCollection = (transaction: Transaction, id: number) => store.rowForChange(transaction, id);

/** Accepts, rejects or deletes a collection. The caller has checked the permission. */
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
  invalidateCollection(transaction, after);
}
