import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export const REMOVE_RATINGS = 'ratings.remove';

/** The resources that can be rated. */
export type RatedResource = 'mods' | 'collections';

interface Rated {
  readonly resource: RatedResource;
  readonly resourceId: number;
}

const BATCH_SIZE = 500;

/** Removes one batch in this transaction, and leaves the rest to a job. */
export async function startRemovingRatings(app: App, transaction: Transaction, rated: Rated): Promise<void> {
  const removed = await store.removeSome(transaction, rated.resource, rated.resourceId, BATCH_SIZE);
  if (removed === BATCH_SIZE) await app.jobs.enqueue(transaction, REMOVE_RATINGS, { ...rated });
}

export async function removeRatings(
  app: App,
  { resource, resourceId }: Rated,
  heartbeat: () => Promise<void>,
): Promise<void> {
  const removeBatch = () =>
    app.db.write((transaction) => store.removeSome(transaction, resource, resourceId, BATCH_SIZE));
  while ((await removeBatch()) === BATCH_SIZE) await heartbeat();
}
