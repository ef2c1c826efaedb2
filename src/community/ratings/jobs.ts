import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { type RatedResource, REMOVE_RATINGS, removeRatings } from './removal.ts';

export const ratingJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_RATINGS,
    run: (app, rated: { resource: RatedResource; resourceId: number }, job) =>
      removeRatings(app, rated, () => job.heartbeat()),
  },
];
