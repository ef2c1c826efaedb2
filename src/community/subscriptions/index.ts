import { resource } from '../../platform/manifest/resource.ts';
import { subscriptionJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { subscriptionOperations } from './operations.ts';
import { personalSubscriptions } from './personal.ts';

export const subscriptions = resource({
  name: 'subscriptions',
  operations: subscriptionOperations,
  jobs: subscriptionJobs,
  personalData: personalSubscriptions,
  extends: [modExtension],
});
