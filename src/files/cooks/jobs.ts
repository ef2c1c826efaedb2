import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetLogs, requeueExpiredCooks } from './cooks.ts';

const MINUTE = 60;
const DAY = 86_400;

export const cookJobs: readonly JobHandler<App>[] = [
  { kind: 'cooks.tend', every: MINUTE, run: (app) => requeueExpiredCooks(app) },
  { kind: 'cooks.forget-logs', byAge: true, every: DAY, run: (app) => forgetLogs(app) },
];
