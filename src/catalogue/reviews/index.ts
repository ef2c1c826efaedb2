import { resource } from '../../platform/resource.ts';
import { reviewJobs } from './jobs.ts';
import { reviewOperations } from './operations.ts';
import { personalReviews } from './personal.ts';

export const reviews = resource({
  name: 'reviews',
  operations: reviewOperations,
  jobs: reviewJobs,
  personalData: personalReviews,
});
