import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { END_SUBSCRIPTIONS, type Ending, removeSubscribers } from './subscriptions.ts';

export const subscriptionJobs: readonly JobHandler<App>[] = [
  {
    kind: END_SUBSCRIPTIONS,
    run: (app, ending: Ending, job) => removeSubscribers(app, ending, () => job.heartbeat()),
  },
];
