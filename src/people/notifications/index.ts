import { resource } from '../../platform/manifest/resource.ts';
import { notificationJobs } from './jobs.ts';
import { notificationOperations } from './operations.ts';
import { personalNotifications } from './personal.ts';

export const notifications = resource({
  name: 'notifications',
  operations: notificationOperations,
  jobs: notificationJobs,
  personalData: personalNotifications,
});
