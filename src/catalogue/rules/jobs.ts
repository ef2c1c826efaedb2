import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { TELL_STUDIO_JOB } from './judging.ts';
import { removeOldDecisions, tellStudioOfRules } from './rules.ts';

export const ruleJobs: readonly JobHandler<App>[] = [
  {
    kind: 'rules.remove-old-decisions',
    every: 86_400,
    run: (app, _, job) => removeOldDecisions(app, () => job.heartbeat()),
  },
  {
    kind: TELL_STUDIO_JOB,
    run: (app, { gameId }: { gameId: number }, job) => tellStudioOfRules(app, gameId, () => job.heartbeat()),
  },
];
