import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { endOutdatedUploads } from './expiry.ts';

const HOUR = 3_600;

export const uploadJobs: readonly JobHandler<App>[] = [
  { kind: 'uploads.end-outdated', every: HOUR, run: (app, _, job) => endOutdatedUploads(app, () => job.heartbeat()) },
];
