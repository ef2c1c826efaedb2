import { showLiveFile } from '../../catalogue/mods/mods.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { modfileBody } from './object.ts';
import * as store from './store.ts';

/** Stores the file object as JSON for its own responses and for those of the mod that shows it. */
export async function writeDocument(transaction: Transaction, row: store.ModfileRow): Promise<void> {
  const platforms = await store.platformsOf(transaction, row.id);
  await store.putDocument(transaction, row, modfileBody(row, platforms));
  await showLiveFile(transaction, row.mod_id);
}
