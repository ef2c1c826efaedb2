import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import * as store from './store.ts';
import { cancel } from './transitions.ts';

export const modExtension = contribute(modExtensions, {
  name: 'cooks',
  onDelete: async (app, transaction, mod) => {
    for (const { id } of await store.openOf(transaction, 'mod_id', mod.id))
      await cancel(app, transaction, (await store.forChange(transaction, id))!);
  },
  onRemove: (_, transaction, mod) => store.removeOfMod(transaction, mod.id),
});
