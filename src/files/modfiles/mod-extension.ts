import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { scheduleCleanup } from './bytes.ts';
import { isPlatform } from './live.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'modfiles',
  // Only the ids of the live files per platform: the live file object is added to the mod when the response is sent.
  fields: async (_, transaction, mod) => {
    const live = await store.liveFilesOf(transaction, mod.id);
    const platforms = [...live]
      .filter(([platform]) => isPlatform(platform))
      .map(([platform, modfile_live]) => ({ platform, modfile_live }));
    return () => ({ platforms });
  },
  // Other files may share the bytes, so a job removes only unused ones.
  onRemove: async (app, transaction, mod) => {
    for (const key of await store.keysOfMod(transaction, mod.id)) await scheduleCleanup(app, transaction, key);
    await store.removeOfMod(transaction, mod.id);
  },
});
