import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export const REMOVE_UNUSED_FILE = 'modfiles.remove-unused';

/** By when bytes that arrived are named by a row or never will be. */
const GRACE_SECONDS = 3_600;

/** Equal files share their bytes, and what lies under a key never changes. */
export const storageKeyOf = (sha256: string): string => `modfiles/${sha256.slice(0, 2)}/${sha256}`;

/**
 * Lets a job look, later, whether a row still names these bytes, and remove them otherwise. A transaction that begins
 * or ceases to name them says this: no removal starts before that transaction has ended.
 */
export const reviewBytes = (app: App, transaction: Transaction, key: string): Promise<void> =>
  app.jobs.enqueue(transaction, REMOVE_UNUSED_FILE, { key }, { key, runAt: app.clock.now() + GRACE_SECONDS });

/**
 * First step, before bytes are moved to their key: from now on no removal that starts will take them. One that has
 * started already may, so that nothing is moved before it is over.
 */
export async function announceArrival(app: App, transaction: Transaction, key: string): Promise<string> {
  await reviewBytes(app, transaction, key);
  if (await store.isJobRunning(transaction, REMOVE_UNUSED_FILE, key)) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
  const token = app.random.uuid();
  const date_expires = app.clock.now() + GRACE_SECONDS;
  await store.addArrival(transaction.query, { token, storage_key: key, date_expires });
  return token;
}

/** Last step, in the transaction that names them. Whoever took longer than the grace may find them gone. */
export async function concludeArrival(transaction: Transaction, token: string): Promise<void> {
  if (!(await store.takeArrival(transaction, token))) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
}

/** Bytes may be shared, so they go when the last row that named them has gone, and nobody is about to name them. */
export async function removeUnusedBytes(app: App, key: string, heartbeat: () => Promise<void>): Promise<void> {
  const isUnused = await app.db.write(async (transaction) => {
    await store.forgetArrivals(transaction, key, app.clock.now());
    // In this order: an arrival that has been concluded since the first question is a row at the second.
    const awaited = await store.lastArrival(transaction, key);
    if (awaited === undefined) return !(await store.isNamed(transaction, key));
    await app.jobs.enqueue(transaction, REMOVE_UNUSED_FILE, { key }, { key, runAt: awaited });
    return false;
  });
  if (!isUnused) return;
  // Fails where another worker has taken over, which then decides anew.
  await heartbeat();
  await app.storage.remove(key);
}
