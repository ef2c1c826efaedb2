import { resource } from '../../platform/manifest/resource.ts';
import { countNoted } from './counting.ts';
import { downloadJobs } from './jobs.ts';
import { downloadOperations } from './operations.ts';
import { personalDownloads } from './personal.ts';

export const downloads = resource({
  name: 'downloads',
  operations: downloadOperations,
  jobs: downloadJobs,
  personalData: personalDownloads,
  finish: countNoted,
});
