import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-notifications',
  up: ({ id, integer, text }) => [
    `create table notifications (id ${id}, user_id ${integer} not null, kind ${text} not null,
      actor_id ${integer} not null, resource ${text} not null, resource_id ${integer} not null,
      game_id ${integer} not null, comment_id ${integer} not null, date_added ${integer} not null,
      is_read ${integer} not null)`,
    // Who does the same again is told of once.
    `create unique index notifications_once on notifications
      (user_id, kind, actor_id, resource, resource_id, comment_id)`,
    'create index notifications_by_user on notifications (user_id, id)',
    'create index notifications_by_date on notifications (date_added)',
    `create table notification_offs (user_id ${integer} not null, kind ${text} not null, primary key (user_id, kind))`,
  ],
};
