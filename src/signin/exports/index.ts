import { resource } from '../../platform/manifest/resource.ts';
import { left } from '../../platform/manifest/treatment.ts';
import { exportJobs } from './jobs.ts';
import { exportOperations } from './operations.ts';
import { personalExports } from './personal.ts';

export const exports = resource({
  name: 'exports',
  operations: exportOperations,
  tables: {
    data_exports: left('a copy of what the archive contains'),
  },
  jobs: exportJobs,
  personalData: personalExports,
});
