import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { banJobs } from './jobs.ts';
import { banOperations } from './operations.ts';
import { personalBans } from './personal.ts';

export const bans = resource({
  name: 'bans',
  operations: banOperations,
  tables: {
    address_bans: service({ notOfGames: true }),
  },
  jobs: banJobs,
  personalData: personalBans,
});
