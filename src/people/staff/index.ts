import { resource } from '../../platform/manifest/resource.ts';
import { staffOperations } from './operations.ts';
import { personalStaff } from './personal.ts';

export const staff = resource({
  name: 'staff',
  operations: staffOperations,
  personalData: personalStaff,
});
