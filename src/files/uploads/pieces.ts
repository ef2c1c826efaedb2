import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export const DISCARD = 'uploads.discard';

/** A mod that is gone takes no uploads. Their bytes go by a job, because a transaction that fails must not lose them. */
export async function removeUploadsOfMod(app: App, transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const upload of await store.ofMod(transaction, mod.id)) await removeUpload(app, transaction, upload);
}

export async function removeUpload(app: App, transaction: Transaction, upload: store.UploadRow): Promise<void> {
  transaction.changed(keyOf(upload));
  await store.remove(transaction.query, upload);
  await app.jobs.enqueue(transaction, DISCARD, { key: keyOf(upload), handle: upload.handle ?? '' });
}

/** Where the bytes of a session are, and what those who send parts of it listen to. */
export const keyOf = ({ upload_id }: Pick<store.UploadRow, 'upload_id'>): `uploads/${string}` => `uploads/${upload_id}`;
