import { contribute } from '../../platform/extensions.ts';
import { modExtensions } from '../mods/extensions.ts';
import { endPreviews } from './previews.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'previews',
  onDelete: (_, transaction, mod) => endPreviews(transaction, 'mods', mod.id),
  onRemove: (_, transaction, mod) => store.removeLink(transaction.query, 'mods', mod.id),
});
