import type { Transaction } from '../database/database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Storage } from '../storage/storage.ts';
import type { ImageKind } from './kinds.ts';

export const REMOVE_UNUSED_IMAGE = 'images.remove-unused';

/** Equal pictures share a folder whose content never changes, so clients may cache its addresses forever. */
export const imageFolder = (sha256: string, kind: ImageKind): string => `images/${sha256.slice(0, 32)}-${kind.name}`;

/**
 * Schedules a job that removes the folder if no row references it. A transaction that starts to reference a folder also
 * calls this, so that no removal starts before that transaction has ended.
 */
export const reviewImage = (jobs: Jobs, transaction: Transaction, folder: string, runAt: number): Promise<void> =>
  jobs.enqueue(transaction, REMOVE_UNUSED_IMAGE, { folder }, { key: folder, runAt });

export async function removeImage(storage: Storage, folder: string): Promise<void> {
  for (const key of await Array.fromAsync(storage.list(`${folder}/`))) await storage.remove(key);
}
