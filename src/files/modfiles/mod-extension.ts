import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { reviewBytes } from './bytes.ts';
import { isPlatform } from './live.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'modfiles',
  // The live file per platform. The live file itself is added to the mod object when it is sent.
  fields: async (_, transaction, mod) => {
    const live = await store.liveFilesOf(transaction, mod.id);
    const platforms = [...live]
      .filter(([platform]) => isPlatform(platform))
      .map(([platform, modfile_live]) => ({ platform, modfile_live }));
    return () => ({ platforms });
  },
  // Other files may share the bytes, so a job removes those that are unused.
  onRemove: async (app, transaction, mod) => {
    for (const key of await store.keysOfMod(transaction, mod.id)) await reviewBytes(app, transaction, key);
    await store.removeOfMod(transaction, mod.id);
  },
});
