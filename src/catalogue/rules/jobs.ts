import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { REPORT_TO_STUDIO_JOB } from './evaluation.ts';
import { removeOldDecisions, reportDecisionsToStudio } from './rules.ts';

export const ruleJobs: readonly JobHandler<App>[] = [
  {
    kind: 'rules.remove-old-decisions',
    byAge: true,
    every: 86_400,
    run: (app, _, job) => removeOldDecisions(app, () => job.heartbeat()),
  },
  {
    kind: REPORT_TO_STUDIO_JOB,
    run: (app, { gameId }: { gameId: number }, job) => reportDecisionsToStudio(app, gameId, () => job.heartbeat()),
  },
];
