import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { content, left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { teamExtensions } from '../teams/extensions.ts';
import { reviewJobs } from './jobs.ts';
import { reviewOperations } from './operations.ts';
import { personalReviews } from './personal.ts';
import { fileNeededReview, requireReview } from './reviews.ts';

export const reviews = resource({
  name: 'reviews',
  operations: reviewOperations,
  tables: {
    reviewing_games: content(),
    permission_reviews: left(SHORT_LIVED),
  },
  jobs: reviewJobs,
  personalData: personalReviews,
  extends: [contribute(teamExtensions, { onSensitiveChange: requireReview, onFailure: fileNeededReview })],
});
