import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOldVisits } from './visits.ts';

const OFTEN_SECONDS = 300;

export const guideJobs: readonly JobHandler<App>[] = [
  {
    kind: 'guides.forget-visits',
    every: OFTEN_SECONDS,
    run: (app, _, job) => removeOldVisits(app, () => job.heartbeat()),
  },
];
