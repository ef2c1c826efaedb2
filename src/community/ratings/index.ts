import { resource } from '../../platform/manifest/resource.ts';
import { ratingJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { ratingOperations } from './operations.ts';
import { personalRatings } from './personal.ts';

export const ratings = resource({
  name: 'ratings',
  operations: ratingOperations,
  jobs: ratingJobs,
  personalData: personalRatings,
  extends: [modExtension],
});
