import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'releases',
  onRemove: async (_, transaction, mod) => {
    await store.removeOfMod(transaction, mod.id);
    await store.removeNewcomers(transaction, 'mods', mod.id);
  },
});
