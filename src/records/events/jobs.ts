import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOldEvents } from './events.ts';

const HOUR = 3_600;

export const eventJobs: readonly JobHandler<App>[] = [
  { kind: 'events.remove-old', byAge: true, every: HOUR, run: (app) => removeOldEvents(app) },
];
