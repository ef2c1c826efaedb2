import { resource } from '../../platform/manifest/resource.ts';
import { banJobs } from './jobs.ts';
import { banOperations } from './operations.ts';
import { personalBans } from './personal.ts';

export const bans = resource({
  name: 'bans',
  operations: banOperations,
  jobs: banJobs,
  personalData: personalBans,
});
