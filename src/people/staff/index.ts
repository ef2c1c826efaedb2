import { resource } from '../../platform/manifest/resource.ts';
import { powers } from '../../platform/manifest/treatment.ts';
import { staffOperations } from './operations.ts';
import { personalStaff } from './personal.ts';

export const staff = resource({
  name: 'staff',
  operations: staffOperations,
  tables: {
    site_staff: powers({ notOfGames: true }),
  },
  personalData: personalStaff,
});
