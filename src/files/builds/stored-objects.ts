import type { App } from '../../platform/app.ts';
import type { ReferencedObject, StoredObjects } from '../../platform/storage/inventory.ts';
import { PREFIX } from './receiving.ts';
import * as store from './store.ts';

const AT_ONCE = 500;
const UUID_CHARACTERS = 36;

/**
 * The builds that studios uploaded for their runners. A build with missing bytes is invalid, so the studio uploads it
 * again.
 */
export const storedBuilds: StoredObjects<App> = {
  prefix: PREFIX,
  referenced: referencedBuilds,
  // In any state, because a build’s bytes are removed together with its row.
  isReferenced: async ({ db }, key) => {
    const build = await store.byUuid(db, key.slice(PREFIX.length, PREFIX.length + UUID_CHARACTERS));
    return build !== undefined && (build.storage_key === key || build.storage_key === null);
  },
  repairRow: async (app, { key }) =>
    app.db.write(async (transaction) => {
      const build = await store.atKey(transaction, key);
      const problem = JSON.stringify({ field: 'build', rule: 'required' });
      if (build) await store.change(transaction.query, build.id, { state: 'invalid', is_live: 0, problem });
      return true;
    }),
  removeLeftOver: ({ storage }, key) => storage.remove(key),
};

async function* referencedBuilds(app: App): AsyncGenerator<ReferencedObject> {
  let last = 0;
  for (;;) {
    const rows = await store.keptAfter(app.db.query, last, AT_ONCE);
    for (const { build_uuid, game_id, storage_key, total: bytes, sha256 } of rows)
      yield { key: storage_key!, bytes, sha256, owner: `build ${build_uuid} of game ${game_id}` };
    if (rows.length < AT_ONCE) return;
    last = rows.at(-1)!.id;
  }
}
