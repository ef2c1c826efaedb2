import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { GATHER_JOB, gatherExport, removeExpiredExports } from './exports.ts';

const HOUR = 3_600;

export const exportJobs: readonly JobHandler<App>[] = [
  { kind: GATHER_JOB, leaseSeconds: 600, run: (app, { id }: { id: number }) => gatherExport(app, id) },
  { kind: 'exports.remove-expired', every: HOUR, run: (app) => removeExpiredExports(app) },
];
