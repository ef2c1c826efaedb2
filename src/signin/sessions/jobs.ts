import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetOutdatedSessions } from './sessions.ts';

const HOUR = 3_600;

export const sessionJobs: readonly JobHandler<App>[] = [
  { kind: 'sessions.forget-outdated', byAge: true, every: HOUR, run: (app) => forgetOutdatedSessions(app) },
];
