import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { deliverDue, LEASE_SECONDS, removeOldStudioEvents, wakeOverdue } from './delivering.ts';
import { moveQueuedEvents } from './outbox.ts';

const MINUTE = 60;
const HOUR = 3_600;

export const webhookJobs: readonly JobHandler<App>[] = [
  { kind: 'webhooks.move-queued-events', continuous: true, run: moveQueuedEvents },
  {
    kind: 'webhooks.deliver',
    leaseSeconds: LEASE_SECONDS,
    run: (app, { webhookId }: { webhookId: number }, job) => deliverDue(app, webhookId, job),
  },
  { kind: 'webhooks.wake-overdue', every: MINUTE, run: (app) => wakeOverdue(app) },
  { kind: 'webhooks.remove-old-events', byAge: true, every: HOUR, run: (app) => removeOldStudioEvents(app) },
];
