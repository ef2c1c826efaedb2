import { resource } from '../../platform/manifest/resource.ts';
import { left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { webhookJobs } from './jobs.ts';
import { studioEventQueueTable } from './migrations/2026-11-16-studio-event-queue.ts';
import { personalWebhooks } from './personal.ts';

export const webhooks = resource({
  name: 'webhooks',
  jobs: webhookJobs,
  migrations: [studioEventQueueTable],
  tables: {
    webhooks: left('they are signed with secrets of this service; they are entered again'),
    webhook_deliveries: left(SHORT_LIVED),
    studio_events: left(SHORT_LIVED),
    studio_event_queue: left(SHORT_LIVED),
  },
  personalData: personalWebhooks,
});
