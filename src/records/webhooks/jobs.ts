import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { deliverDue, LEASE_SECONDS, removeOldStudioEvents, wakeOverdue } from './delivering.ts';

const MINUTE = 60;
const HOUR = 3_600;

export const webhookJobs: readonly JobHandler<App>[] = [
  {
    kind: 'webhooks.deliver',
    leaseSeconds: LEASE_SECONDS,
    run: (app, { webhookId }: { webhookId: number }, job) => deliverDue(app, webhookId, job),
  },
  { kind: 'webhooks.wake-overdue', every: MINUTE, run: (app) => wakeOverdue(app) },
  { kind: 'webhooks.remove-old-events', every: HOUR, run: (app) => removeOldStudioEvents(app) },
];
