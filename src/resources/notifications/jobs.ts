import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { removeOld } from './notifications.ts';

export const notificationJobs: readonly JobHandler<App>[] = [
  { kind: 'notifications.remove-old', every: 86_400, run: removeOld },
];
