import { resource } from '../../platform/manifest/resource.ts';
import { people, service } from '../../platform/manifest/treatment.ts';
import { notificationJobs } from './jobs.ts';
import { unreadNotifications } from './migrations/2026-11-17-unread-notifications.ts';
import { notificationOperations } from './operations.ts';
import { personalNotifications } from './personal.ts';

export const notifications = resource({
  name: 'notifications',
  operations: notificationOperations,
  migrations: [unreadNotifications],
  tables: {
    notification_modes: people({ notOfGames: true }),
    notifications: service({ notOfGames: true, refers: { comment_id: 'comments', letter_id: 'notification_letters' } }),
    notification_letters: service({ notOfGames: true }),
  },
  jobs: notificationJobs,
  personalData: personalNotifications,
});
