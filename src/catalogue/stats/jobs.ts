import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { foldCounts, refreshStats } from './stats.ts';

const OFTEN_SECONDS = 300;

/** Runs often and does little, because it skips stats that have not expired. */
export const statsJobs: readonly JobHandler<App>[] = [
  { kind: 'stats.fold', continuous: true, run: foldCounts },
  { kind: 'stats.renew', every: OFTEN_SECONDS, run: (app, _, job) => refreshStats(app, () => job.heartbeat()) },
];
