import { resource } from '../../platform/manifest/resource.ts';
import { people } from '../../platform/manifest/treatment.ts';
import { ratingJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { ratingOperations } from './operations.ts';
import { personalRatings } from './personal.ts';

export const ratings = resource({
  name: 'ratings',
  operations: ratingOperations,
  tables: {
    ratings: people(),
  },
  jobs: ratingJobs,
  personalData: personalRatings,
  extends: [modExtension],
});
