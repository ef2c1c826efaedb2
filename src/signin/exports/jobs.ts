import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { GATHER_JOB, REMOVE_JOB, removeExpiredExports } from './exports.ts';
import { gatherExport } from './gathering.ts';

const HOUR = 3_600;

export const exportJobs: readonly JobHandler<App>[] = [
  { kind: GATHER_JOB, leaseSeconds: 600, run: (app, { id }: { id: number }) => gatherExport(app, id) },
  { kind: REMOVE_JOB, run: (app) => removeExpiredExports(app) },
  { kind: 'exports.remove-expired', byAge: true, every: HOUR, run: (app) => removeExpiredExports(app) },
];
