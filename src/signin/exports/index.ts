import { resource } from '../../platform/manifest/resource.ts';
import { exportJobs } from './jobs.ts';
import { exportOperations } from './operations.ts';
import { personalExports } from './personal.ts';

export const exports = resource({
  name: 'exports',
  operations: exportOperations,
  jobs: exportJobs,
  personalData: personalExports,
});
