import { resource } from '../../platform/manifest/resource.ts';
import { accountJobs } from './jobs.ts';
import { accountOperations } from './operations.ts';
import { personalAddresses } from './personal.ts';

export const accounts = resource({
  name: 'accounts',
  operations: accountOperations,
  jobs: accountJobs,
  personalData: personalAddresses,
});
