import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOldActivity } from './counting.ts';
import { foldMetrics } from './folding.ts';

export const metricsJobs: readonly JobHandler<App>[] = [
  { kind: 'metrics.fold', continuous: true, run: foldMetrics },
  { kind: 'metrics.forget', byAge: true, every: 3_600, run: removeOldActivity },
];
