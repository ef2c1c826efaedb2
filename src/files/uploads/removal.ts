import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export const DISCARD = 'uploads.discard';

/** A job discards the bytes, because a transaction that fails must not lose them. */
export async function removeUpload(app: App, transaction: Transaction, upload: store.UploadRow): Promise<void> {
  transaction.changed(keyOf(upload));
  await store.remove(transaction.query, upload);
  await app.jobs.enqueue(transaction, DISCARD, { key: keyOf(upload), handle: upload.handle ?? '' });
}

/** The storage key of a session's bytes, and the channel on which requests that send its parts learn of changes. */
export const keyOf = ({ upload_id }: Pick<store.UploadRow, 'upload_id'>): `uploads/${string}` => `uploads/${upload_id}`;
