import { resource } from '../../platform/manifest/resource.ts';
import { KEYED, left } from '../../platform/manifest/treatment.ts';
import { flushDownloads } from './counting.ts';
import { downloadJobs } from './jobs.ts';
import { downloadOperations } from './operations.ts';
import { personalDownloads } from './personal.ts';

export const downloads = resource({
  name: 'downloads',
  operations: downloadOperations,
  tables: {
    counted_downloads: left(KEYED),
  },
  jobs: downloadJobs,
  personalData: personalDownloads,
  finish: flushDownloads,
});
