import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOldActivity } from './counting.ts';

export const metricsJobs: readonly JobHandler<App>[] = [
  { kind: 'metrics.forget', every: 3_600, run: removeOldActivity },
];
