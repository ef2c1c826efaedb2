import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetOutdatedDeviceLogins } from './devices.ts';

const HOUR = 3_600;

export const deviceJobs: readonly JobHandler<App>[] = [
  {
    kind: 'devices.forget-outdated',
    byAge: true,
    every: HOUR,
    run: async (app) => void (await forgetOutdatedDeviceLogins(app)),
  },
];
