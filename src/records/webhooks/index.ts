import { resource } from '../../platform/resource.ts';
import { webhookJobs } from './jobs.ts';
import { webhookOperations } from './operations.ts';
import { personalWebhooks } from './personal.ts';

export const webhooks = resource({
  name: 'webhooks',
  operations: webhookOperations,
  jobs: webhookJobs,
  personalData: personalWebhooks,
});
