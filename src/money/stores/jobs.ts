import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetNotifications } from './notifications.ts';
import { takeReversedBack } from './reversals.ts';
import { retryDue } from './selling.ts';

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

export const storeJobs: readonly JobHandler<App>[] = [
  { kind: 'stores.retry', every: MINUTE, run: (app, _, { heartbeat }) => retryDue(app, heartbeat) },
  { kind: 'stores.reversals', every: HOUR, run: (app, _, { heartbeat }) => takeReversedBack(app, heartbeat) },
  {
    kind: 'stores.forget-notifications',
    byAge: true,
    every: DAY,
    run: async (app) => {
      await forgetNotifications(app);
    },
  },
];
