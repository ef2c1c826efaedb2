import { resource } from '../../platform/manifest/resource.ts';
import { people } from '../../platform/manifest/treatment.ts';
import { muteOperations } from './operations.ts';
import { personalMutes } from './personal.ts';

export const mutes = resource({
  name: 'mutes',
  operations: muteOperations,
  tables: {
    mutes: people({ notOfGames: true }),
  },
  personalData: personalMutes,
});
