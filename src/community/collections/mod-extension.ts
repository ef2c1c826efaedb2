import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'collections',
  onRemove: async (_, transaction, mod) => {
    const changed = await store.removeModEverywhere(transaction.query, mod.id);
    for (const id of changed) transaction.changed(`collections/${id}`);
  },
});
