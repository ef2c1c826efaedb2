import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { deliverDue, LEASE_SECONDS, removeOldStudioEvents } from './delivering.ts';

const HOUR = 3_600;

export const webhookJobs: readonly JobHandler<App>[] = [
  {
    kind: 'webhooks.deliver',
    leaseSeconds: LEASE_SECONDS,
    run: (app, { webhookId }: { webhookId: number }, job) => deliverDue(app, webhookId, job),
  },
  { kind: 'webhooks.remove-old-events', every: HOUR, run: (app) => removeOldStudioEvents(app) },
];
