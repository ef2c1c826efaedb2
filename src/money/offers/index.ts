import { modExtensions } from '../../catalogue/mods/extensions.ts';
import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { editOffer } from './offers.ts';

export const offers = resource({
  name: 'offers',
  extends: [contribute(modExtensions, { name: 'offers', onEdit: editOffer })],
});
