import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, left } from '../../platform/manifest/treatment.ts';
import { accountJobs } from './jobs.ts';
import { accountOperations } from './operations.ts';
import { personalAddresses } from './personal.ts';

export const accounts = resource({
  name: 'accounts',
  operations: accountOperations,
  tables: {
    email_changes: left(CREDENTIAL),
  },
  jobs: accountJobs,
  personalData: personalAddresses,
});
