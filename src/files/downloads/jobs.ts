import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOldMarks } from './counting.ts';

const HOUR = 3_600;

export const downloadJobs: readonly JobHandler<App>[] = [
  { kind: 'downloads.forget-counted', byAge: true, every: HOUR, run: (app) => removeOldMarks(app) },
];
