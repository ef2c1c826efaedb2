import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireNoRemoval } from '../../platform/jobs/removals.ts';
import * as store from './store.ts';

export const REMOVE_UNUSED_FILE = 'modfiles.remove-unused';

/** An upload must be recorded in a row within this time; afterwards its bytes may be removed. */
const GRACE_SECONDS = 3_600;

/** Identical files share one stored object, and the object under a key never changes. */
export const storageKeyOf = (sha256: string): string => `modfiles/${sha256.slice(0, 2)}/${sha256}`;

/**
 * Schedules a job that removes the bytes if no row references them by then. Every transaction that adds or drops a
 * reference calls this; a removal cannot start before that transaction ends.
 */
export const scheduleCleanup = (app: App, transaction: Transaction, key: string): Promise<void> =>
  app.jobs.enqueue(transaction, REMOVE_UNUSED_FILE, { key }, { key, runAt: app.clock.now() + GRACE_SECONDS });

/**
 * First step, before the bytes move to their key: protects them from every removal that starts later. A removal that is
 * already running could still delete them, so `writeAfterRemoval` runs this transaction.
 */
export async function announceArrival(app: App, transaction: Transaction, key: string): Promise<string> {
  await scheduleCleanup(app, transaction, key);
  await requireNoRemoval(transaction, REMOVE_UNUSED_FILE, key);
  const token = app.random.uuid();
  const date_expires = app.clock.now() + GRACE_SECONDS;
  await store.addArrival(transaction.query, { token, storage_key: key, date_expires });
  return token;
}

/**
 * Last step, in the transaction that adds the reference. Fails if the grace period has passed, because the bytes may be
 * gone.
 */
export async function concludeArrival(transaction: Transaction, token: string): Promise<void> {
  if (!(await store.removeArrival(transaction, token))) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
}

/** Files can share bytes, so they are removed only when no row references them and no upload is about to. */
export async function removeUnusedBytes(app: App, key: string, heartbeat: () => Promise<void>): Promise<void> {
  const isUnused = await app.db.write(async (transaction) => {
    await store.removeExpiredArrivals(transaction, key, app.clock.now());
    // In this order: an arrival that is concluded between the two queries is visible as a row in the second.
    const awaited = await store.lastArrival(transaction, key);
    if (awaited === undefined) return !(await store.isReferenced(transaction, key));
    await app.jobs.enqueue(transaction, REMOVE_UNUSED_FILE, { key }, { key, runAt: awaited });
    return false;
  });
  if (!isUnused) return;
  // Fails if another worker has claimed the job; that worker repeats the check.
  await heartbeat();
  await app.storage.remove(key);
}
