import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { removeCommentsLater } from './removal.ts';

export const modExtension = contribute(modExtensions, {
  name: 'comments',
  onRemove: (app, transaction, mod) => removeCommentsLater(app, transaction, 'mods', mod.id),
});
