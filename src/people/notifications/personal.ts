import { notExported } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalNotifications: PersonalData = {
  columns: [
    {
      table: 'notifications',
      column: 'user_id',
      exported: ['id', 'kind', 'actor_id', 'resource', 'resource_id', 'game_id', 'comment_id', 'date_added', 'is_read'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['kind', 'actor_id', 'resource', 'resource_id', 'comment_id'],
      apart: 'actor_id',
    },
    {
      table: 'notifications',
      column: 'actor_id',
      exported: notExported('notifications of other users'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id', 'kind', 'resource', 'resource_id', 'comment_id'],
      apart: 'user_id',
    },
    {
      table: 'notifications',
      column: 'resource_id',
      where: "resource = 'users'",
      exported: notExported('notifications of other users'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id', 'kind', 'actor_id', 'resource', 'comment_id'],
    },
    {
      table: 'notification_modes',
      column: 'user_id',
      exported: ['kind', 'mode'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['kind'],
    },
    {
      table: 'notification_letters',
      column: 'user_id',
      exported: ['id', 'date_added', 'date_sent'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
  ],
};
