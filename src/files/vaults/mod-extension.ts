import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'vaults',
  onRemove: async (_, transaction, mod) => void (await store.remove(transaction, mod.id)),
});
