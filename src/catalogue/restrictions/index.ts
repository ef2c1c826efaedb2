import { resource } from '../../platform/manifest/resource.ts';
import { restrictionOperations } from './operations.ts';
import { personalRestrictions } from './personal.ts';

export const restrictions = resource({
  name: 'restrictions',
  operations: restrictionOperations,
  personalData: personalRestrictions,
});
