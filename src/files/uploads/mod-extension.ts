import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { removeUpload } from './removal.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'uploads',
  onRemove: async (app, transaction, mod) => {
    for (const upload of await store.ofMod(transaction, mod.id)) await removeUpload(app, transaction, upload);
  },
});
