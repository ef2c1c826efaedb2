import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { reviewBytes } from './bytes.ts';
import { isPlatform } from './live.ts';
import * as store from './store.ts';

/** The live files per platform in a mod's documents. The live file itself is put behind them when they are sent. */
export async function tellPlatforms(transaction: Transaction, mod: { id: number }) {
  const live = await store.liveFilesOf(transaction, mod.id);
  const platforms = [...live].filter(([platform]) => isPlatform(platform));
  return () => ({ platforms: platforms.map(([platform, modfile_live]) => ({ platform, modfile_live })) });
}

/** A mod that is gone has no files: bytes that no other file has are removed later. */
export async function removeModfilesOfMod(app: App, transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const key of await store.keysOfMod(transaction, mod.id)) await reviewBytes(app, transaction, key);
  await store.removeOfMod(transaction, mod.id);
}
