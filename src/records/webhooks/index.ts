import { resource } from '../../platform/manifest/resource.ts';
import { webhookJobs } from './jobs.ts';
import { studioEventQueueTable } from './migrations/2026-11-16-studio-event-queue.ts';
import { personalWebhooks } from './personal.ts';

export const webhooks = resource({
  name: 'webhooks',
  jobs: webhookJobs,
  migrations: [studioEventQueueTable],
  personalData: personalWebhooks,
});
