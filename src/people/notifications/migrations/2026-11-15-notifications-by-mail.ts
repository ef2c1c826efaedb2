import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-notifications-by-mail',
  up: ({ id, integer, text }) => [
    `create table notification_modes (user_id ${integer} not null, kind ${text} not null, mode ${text} not null,
      primary key (user_id, kind))`,
    "insert into notification_modes (user_id, kind, mode) select user_id, kind, 'off' from notification_offs",
    'drop table notification_offs',
    `alter table notifications add column date_mail ${integer} not null default 0`,
    `alter table notifications add column letter_id ${integer} not null default 0`,
    'create index notifications_to_mail on notifications (date_mail, user_id) where date_mail > 0',
    'create index notifications_to_mail_by_user on notifications (user_id, date_mail) where date_mail > 0',
    'create index notifications_by_letter on notifications (letter_id) where letter_id > 0',
    `create table notification_letters (id ${id}, user_id ${integer} not null, date_added ${integer} not null,
      date_sent ${integer} not null)`,
    'create index notification_letters_by_user on notification_letters (user_id, date_added)',
    'create index notification_letters_by_date on notification_letters (date_added)',
  ],
};
