import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetReviews, MAIL_REVIEW, mailReview } from './reviews.ts';

export const reviewJobs: readonly JobHandler<App>[] = [
  { kind: MAIL_REVIEW, run: (app, { id }: { id: number }) => mailReview(app, id) },
  { kind: 'reviews.forget', every: 86_400, run: (app) => forgetReviews(app) },
];
