import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { startRemovingRatings } from './removal.ts';

export const modExtension = contribute(modExtensions, {
  name: 'ratings',
  onRemove: (app, transaction, mod) => startRemovingRatings(app, transaction, { resource: 'mods', resourceId: mod.id }),
});
