import { resource } from '../../platform/manifest/resource.ts';
import { webhookJobs } from './jobs.ts';
import { personalWebhooks } from './personal.ts';

export const webhooks = resource({
  name: 'webhooks',
  jobs: webhookJobs,
  personalData: personalWebhooks,
});
