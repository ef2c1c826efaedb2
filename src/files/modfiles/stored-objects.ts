import { requireModInAnyState } from '../../catalogue/mods/access.ts';
import { OPERATOR } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { ReferencedObject, StoredObjects } from '../../platform/storage/inventory.ts';
import { scheduleCleanup } from './bytes.ts';
import { withdrawModfile } from './releasing.ts';
import * as store from './store.ts';

const AT_ONCE = 500;

/** A file with missing or damaged bytes is withdrawn like one with a virus, so that nobody is offered it. */
export const storedModfiles: StoredObjects<App> = {
  prefix: 'modfiles/',
  referenced: referencedBytes,
  isReferenced: ({ db }, key) => store.isReferenced(db, key),
  repairRow: async (app, { key }) => {
    await app.db.write(async (transaction) => {
      for (const file of await store.offeredWith(transaction, key)) {
        const mod = await requireModInAnyState(transaction, OPERATOR, file.game_id, file.mod_id);
        await withdrawModfile(app, transaction, mod, file.id, { withdrawn: true, userId: file.submitted_by });
      }
    });
    return true;
  },
  removeLeftOver: (app, key) => app.db.write((transaction) => scheduleCleanup(app, transaction, key)),
};

/** Rows can share an object, which is then listed once per row. */
async function* referencedBytes(app: App): AsyncGenerator<ReferencedObject> {
  let last = 0;
  for (;;) {
    const rows = await store.storedAfter(app.db.query, last, AT_ONCE);
    for (const { id, mod_id, storage_key: key, filesize: bytes, sha256 } of rows)
      yield { key, bytes, sha256, owner: `file ${id} of mod ${mod_id}` };
    if (rows.length < AT_ONCE) return;
    last = rows.at(-1)!.id;
  }
}
