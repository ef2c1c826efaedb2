import { resource } from '../../platform/resource.ts';
import { restrictionOperations } from './operations.ts';
import { personalRestrictions } from './personal.ts';

export const restrictions = resource({
  name: 'restrictions',
  operations: restrictionOperations,
  personalData: personalRestrictions,
});
