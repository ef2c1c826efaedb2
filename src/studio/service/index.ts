import { resource } from '../../platform/manifest/resource.ts';
import { serviceJobs } from './jobs.ts';
import { serviceOperations } from './operations.ts';

export const service = resource({
  name: 'service',
  operations: serviceOperations,
  jobs: serviceJobs,
});
