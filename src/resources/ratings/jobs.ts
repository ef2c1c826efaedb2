import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { type RatedResource, REMOVE_RATINGS, removeRatings } from './pieces.ts';

export const ratingJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_RATINGS,
    run: (app, rated: { resource: RatedResource; resourceId: number }, job) =>
      removeRatings(app, rated, () => job.heartbeat()),
  },
];
