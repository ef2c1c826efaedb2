import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-messages',
  up: ({ id, integer, text }) => [
    `create table message_threads (id ${id}, subject ${text} not null, started_by ${integer} not null,
      date_added ${integer} not null, date_updated ${integer} not null)`,
    `create table message_members (thread_id ${integer} not null, user_id ${integer} not null,
      status ${integer} not null, invited_by ${integer} not null, date_added ${integer} not null,
      unread ${integer} not null, last_read_id ${integer} not null, primary key (thread_id, user_id))`,
    'create index message_members_by_user on message_members (user_id, status, thread_id)',
    'create index message_members_by_inviter on message_members (invited_by, date_added)',
    `create table messages (id ${id}, thread_id ${integer} not null, user_id ${integer} not null,
      first ${integer} not null, date_added ${integer} not null, date_deleted ${integer} not null,
      content ${text} not null, markup ${text} not null)`,
    'create index messages_by_thread on messages (thread_id, id)',
    'create index messages_by_user on messages (user_id, date_added)',
    `create table message_settings (user_id ${integer} primary key, accept_from ${integer} not null)`,
  ],
};
