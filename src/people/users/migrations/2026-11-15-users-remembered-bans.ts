import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-users-remembered-bans',
  up: ({ integer, text }) => [
    `create table remembered_bans (digest ${text} primary key, user_id ${integer} not null,
      date_added ${integer} not null)`,
  ],
};
