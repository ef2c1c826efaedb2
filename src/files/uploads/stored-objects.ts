import type { App } from '../../platform/app.ts';
import type { StoredObjects } from '../../platform/storage/inventory.ts';
import { keyOf } from './removal.ts';
import * as store from './store.ts';
import { cancelled, UPLOAD_COMPLETE } from './uploads.ts';

const PREFIX = 'uploads/';
const idIn = (key: string) => key.slice(PREFIX.length);

/** Complete files that no modfile uses yet. Parts are not objects yet: completing a session checks each of them. */
export const storedUploads: StoredObjects<App> = {
  prefix: PREFIX,
  referenced: async function* ({ db }) {
    for (const upload of await store.waiting(db.query, UPLOAD_COMPLETE))
      yield {
        key: keyOf(upload),
        bytes: upload.total,
        ...(upload.sha256 && { sha256: upload.sha256 }),
        owner: `upload ${upload.upload_id} to mod ${upload.mod_id}`,
      };
  },
  // In any state of the session, because its bytes are removed together with its row.
  isReferenced: async ({ db }, key) => (await store.byUploadId(db, idIn(key))) !== undefined,
  repairRow: (app, { key }) =>
    app.db.write(async (transaction) => {
      const upload = await store.forChange(transaction, idIn(key));
      if (upload?.status === UPLOAD_COMPLETE && !upload.used) await cancelled(app, transaction, upload);
      return true;
    }),
  // A session’s row exists before its bytes, and its id is never reused.
  removeLeftOver: ({ storage }, key) => storage.remove(key),
};
