import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { removeOldDecisions } from './rules.ts';

export const ruleJobs: readonly JobHandler<App>[] = [
  {
    kind: 'rules.remove-old-decisions',
    every: 86_400,
    run: (app, _, job) => removeOldDecisions(app, () => job.heartbeat()),
  },
];
