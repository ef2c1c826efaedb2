import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { END_SUBSCRIPTIONS, type Ending, takeOffSubscribers } from './subscriptions.ts';

export const subscriptionJobs: readonly JobHandler<App>[] = [
  {
    kind: END_SUBSCRIPTIONS,
    run: (app, ending: Ending, job) => takeOffSubscribers(app, ending, () => job.heartbeat()),
  },
];
