import { resource } from '../../platform/resource.ts';
import { oauthJobs } from './jobs.ts';
import { oauthOperations } from './operations.ts';
import { personalGrants } from './personal.ts';

export const oauth = resource({
  name: 'oauth',
  operations: oauthOperations,
  jobs: oauthJobs,
  personalData: personalGrants,
});
