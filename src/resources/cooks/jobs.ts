import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { tendCooks } from './cooks.ts';

const MINUTE = 60;

export const cookJobs: readonly JobHandler<App>[] = [
  { kind: 'cooks.tend', every: MINUTE, run: (app) => tendCooks(app) },
];
