import type { App } from '../../platform/app.ts';
import type { StoredObjects } from '../../platform/storage/inventory.ts';
import { keyOf } from './removal.ts';
import * as store from './store.ts';
import { cancelled, UPLOAD_COMPLETE } from './uploads.ts';

const PREFIX = 'uploads/';
const idIn = (key: string) => key.slice(PREFIX.length);

/** Files that came whole and wait for their use. Parts are no objects yet: completing a session looks at each. */
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
  // Whatever state the session is in: its bytes go with its row.
  isReferenced: async ({ db }, key) => (await store.byUploadId(db, idIn(key))) !== undefined,
  repairRow: (app, { key }) =>
    app.db.write(async (transaction) => {
      const upload = await store.forChange(transaction, idIn(key));
      if (upload?.status === UPLOAD_COMPLETE && !upload.used) await cancelled(app, transaction, upload);
      return true;
    }),
  // A session is there before its bytes, and its id never comes again.
  removeLeftOver: ({ storage }, key) => storage.remove(key),
};
