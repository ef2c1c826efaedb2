import type { Migration } from '../../../platform/database/migrate.ts';

/** Every page counts the unread ones, and most are read. */
export const unreadNotifications: Migration = {
  name: '2026-11-17-unread-notifications',
  indexes: () => ['create index notifications_unread on notifications (user_id, id) where is_read = 0'],
  up: () => [],
};
