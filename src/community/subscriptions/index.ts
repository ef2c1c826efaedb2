import { resource } from '../../platform/manifest/resource.ts';
import { people } from '../../platform/manifest/treatment.ts';
import { subscriptionJobs } from './jobs.ts';
import { modExtension } from './mod-extension.ts';
import { subscriptionOperations } from './operations.ts';
import { personalSubscriptions } from './personal.ts';

export const subscriptions = resource({
  name: 'subscriptions',
  operations: subscriptionOperations,
  tables: {
    subscriptions: people(),
  },
  jobs: subscriptionJobs,
  personalData: personalSubscriptions,
  extends: [modExtension],
});
