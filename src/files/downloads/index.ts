import { resource } from '../../platform/manifest/resource.ts';
import { flushDownloads } from './counting.ts';
import { downloadJobs } from './jobs.ts';
import { downloadOperations } from './operations.ts';
import { personalDownloads } from './personal.ts';

export const downloads = resource({
  name: 'downloads',
  operations: downloadOperations,
  jobs: downloadJobs,
  personalData: personalDownloads,
  finish: flushDownloads,
});
