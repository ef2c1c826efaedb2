import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { MAIL_REVIEW, mailReview, removeOldReviews } from './reviews.ts';

export const reviewJobs: readonly JobHandler<App>[] = [
  { kind: MAIL_REVIEW, run: (app, { id }: { id: number }) => mailReview(app, id) },
  { kind: 'reviews.forget', byAge: true, every: 86_400, run: (app) => removeOldReviews(app) },
];
