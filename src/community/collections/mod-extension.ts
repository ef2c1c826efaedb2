import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { leaveCollections } from './contents.ts';

export const modExtension = contribute(modExtensions, {
  name: 'collections',
  onRemove: (_, transaction, mod) => leaveCollections(transaction, mod.id),
});
