import { resource } from '../../platform/manifest/resource.ts';
import { notificationJobs } from './jobs.ts';
import { unreadNotifications } from './migrations/2026-11-17-unread-notifications.ts';
import { notificationOperations } from './operations.ts';
import { personalNotifications } from './personal.ts';

export const notifications = resource({
  name: 'notifications',
  operations: notificationOperations,
  migrations: [unreadNotifications],
  jobs: notificationJobs,
  personalData: personalNotifications,
});
