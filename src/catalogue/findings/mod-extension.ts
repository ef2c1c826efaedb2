import { contribute } from '../../platform/extensions.ts';
import { modExtensions } from '../mods/extensions.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'findings',
  onRemove: (_, transaction, mod) => store.removeOfMod(transaction.query, mod.id),
});
