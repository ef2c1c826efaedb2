import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { restrictionOperations } from './operations.ts';
import { personalRestrictions } from './personal.ts';

export const restrictions = resource({
  name: 'restrictions',
  operations: restrictionOperations,
  tables: {
    game_restrictions: content(),
  },
  personalData: personalRestrictions,
});
