import type { Migration } from '../../../platform/database/migrate.ts';

/** `foldUsernames` fills it for people who are there already. */
export const migration: Migration = {
  name: '2026-11-15-users-folded',
  up: ({ text }) => [
    `alter table users add column username_folded ${text} not null default ''`,
    'create index users_by_username on users (username_folded)',
  ],
};
