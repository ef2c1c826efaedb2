import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/listing.ts';
import { lockGame, tagOptionsChanged } from '../games/games.ts';
import { refreshMod } from '../mods/mods.ts';
import { renameTag, tagsById } from '../tag-options/tag-options.ts';
import * as store from './store.ts';

export const RENAME_TAG = 'tags.rename';
export const REFRESH_MODS = 'tags.refresh-mods';

type Heartbeat = () => Promise<void>;

/** The game has the new name at once, its mods get it one after the other. Running it again is harmless. */
export async function finishRename(app: App, gameId: number, heartbeat: Heartbeat): Promise<void> {
  const rename = await app.db.write(async (transaction) => {
    await lockGame(transaction, gameId);
    const waiting = await store.renameOf(transaction.query, gameId);
    if (!waiting) return undefined;
    await renameTag(transaction.query, waiting.tag_id, waiting.name);
    await tagOptionsChanged(app, transaction, gameId);
    return waiting;
  });
  if (!rename) return;
  await refreshMods(app, [rename.tag_id], heartbeat);
  await app.db.write(({ query }) => store.removeRename(query, rename));
}

/** Rewrites mods with these tags after a rename, a translation, hiding or removal. */
export async function refreshMods(app: App, tagIds: readonly number[], heartbeat: Heartbeat): Promise<void> {
  let last: number | undefined = 0;
  while (last !== undefined) {
    const after: number = last;
    last = await app.db.write((transaction) => refreshSome(app, transaction, tagIds, after));
    await heartbeat();
  }
}

const REFRESHED_AT_ONCE = 100;

/** Returns the last mod that was refreshed. */
async function refreshSome(
  app: App,
  transaction: Transaction,
  tagIds: readonly number[],
  afterId: number,
): Promise<number | undefined> {
  const { query } = transaction;
  const mods = await store.modsWith(query, tagIds, afterId, REFRESHED_AT_ONCE);
  if (mods.length === 0) return undefined;
  const modIds = mods.map(({ id }) => id);
  const tags = await tagsById(query, tagIds);
  for (const { id, name } of tags) await store.putFolded(query, modIds, id, fold(name));
  const gone = tagIds.filter((id) => !tags.some((tag) => tag.id === id));
  await store.untagMods(query, modIds, gone);
  for (const mod of mods) await refreshMod(app, transaction, mod);
  return modIds.at(-1);
}
