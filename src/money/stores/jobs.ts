import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetNotifications } from './notifications.ts';
import { retryDue } from './selling.ts';

const MINUTE = 60;
const DAY = 86_400;

export const storeJobs: readonly JobHandler<App>[] = [
  { kind: 'stores.retry', every: MINUTE, run: (app, _, { heartbeat }) => retryDue(app, heartbeat) },
  {
    kind: 'stores.forget-notifications',
    every: DAY,
    run: async (app) => {
      await forgetNotifications(app);
    },
  },
];
