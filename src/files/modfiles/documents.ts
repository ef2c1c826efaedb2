import { showLiveFile } from '../../catalogue/mods/mods.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { modfileBody } from './object.ts';
import * as store from './store.ts';

/** The file as JSON, as it is told from now on, also by the mod that shows it. */
export async function writeDocument(transaction: Transaction, row: store.ModfileRow): Promise<void> {
  const platforms = await store.platformsOf(transaction, row.id);
  await store.putDocument(transaction, row, modfileBody(row, platforms));
  await showLiveFile(transaction, row.mod_id);
}
