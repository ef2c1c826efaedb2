import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// What mods ask of ratings, so this file knows nothing of them.

export const REMOVE_RATINGS = 'ratings.remove';

/** What was rated, by the noun that it is of. */
export type RatedResource = 'mods' | 'collections';

const REMOVED_AT_ONCE = 500;

/** It is gone for ever. Where it has more ratings than a transaction should take, a job removes the others. */
export async function removeRatingsOfMod(app: App, transaction: Transaction, mod: { id: number }): Promise<void> {
  const payload = { resource: 'mods', resourceId: mod.id };
  if ((await store.removeSome(transaction, 'mods', mod.id, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE)
    await app.jobs.enqueue(transaction, REMOVE_RATINGS, payload);
}

export async function removeRatings(
  app: App,
  { resource, resourceId }: { resource: RatedResource; resourceId: number },
  heartbeat: () => Promise<void>,
): Promise<void> {
  const step = () =>
    app.db.write((transaction) => store.removeSome(transaction, resource, resourceId, REMOVED_AT_ONCE));
  while ((await step()) === REMOVED_AT_ONCE) await heartbeat();
}
