import { resource } from '../../platform/resource.ts';
import { uploadHoldings } from './holdings.ts';
import { uploadJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { uploadOperations } from './operations.ts';
import { personalUploads } from './personal.ts';

export const uploads = resource({
  name: 'uploads',
  operations: uploadOperations,
  jobs: uploadJobs,
  personalData: personalUploads,
  holdings: uploadHoldings,
  extends: [modExtension],
});
