import { requireModInAnyState } from '../../catalogue/mods/access.ts';
import { OPERATOR } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { ReferencedObject, StoredObjects } from '../../platform/storage/inventory.ts';
import { reviewBytes } from './bytes.ts';
import { withdrawModfile } from './releasing.ts';
import * as store from './store.ts';

const AT_ONCE = 500;

/** A file whose bytes are gone or damaged is withdrawn, like one with a virus: nobody shall be offered it. */
export const storedModfiles: StoredObjects<App> = {
  prefix: 'modfiles/',
  referenced: referencedBytes,
  isReferenced: ({ db }, key) => store.isNamed(db, key),
  repairRow: async (app, { key }) => {
    await app.db.write(async (transaction) => {
      for (const file of await store.offeredWith(transaction, key)) {
        const mod = await requireModInAnyState(transaction, OPERATOR, file.game_id, file.mod_id);
        await withdrawModfile(app, transaction, mod, file.id, { withdrawn: true, userId: file.submitted_by });
      }
    });
    return true;
  },
  removeLeftOver: (app, key) => app.db.write((transaction) => reviewBytes(app, transaction, key)),
};

/** Rows may share an object, which is told once for each. */
async function* referencedBytes(app: App): AsyncGenerator<ReferencedObject> {
  let last = 0;
  for (;;) {
    const rows = await store.heldAfter(app.db.query, last, AT_ONCE);
    for (const { id, mod_id, storage_key: key, filesize: bytes, sha256 } of rows)
      yield { key, bytes, sha256, owner: `file ${id} of mod ${mod_id}` };
    if (rows.length < AT_ONCE) return;
    last = rows.at(-1)!.id;
  }
}
