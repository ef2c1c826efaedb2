import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import type { Assembly } from '../../platform/storage/storage.ts';
import { endOutdatedUploads } from './expiry.ts';
import { DISCARD } from './removal.ts';

const HOUR = 3_600;

export const uploadJobs: readonly JobHandler<App>[] = [
  {
    kind: 'uploads.end-outdated',
    byAge: true,
    every: HOUR,
    run: (app, _, job) => endOutdatedUploads(app, () => job.heartbeat()),
  },
  { kind: DISCARD, run: (app, assembly: Assembly) => app.storage.assemblies.discard(assembly) },
];
