import { contribute } from '../../platform/extensions.ts';
import { modExtensions } from '../mods/extensions.ts';
import { dependencyRemoved } from '../mods/mods.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'dependencies',
  onRemove: async (_, transaction, mod) => {
    const dependants = await store.removeOfMod(transaction.query, mod.id);
    for (const id of dependants) await dependencyRemoved(transaction, id);
  },
});
