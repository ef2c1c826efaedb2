import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-users-life',
  up: ({ integer, text }) => [
    `alter table users add column birth_date ${text}`,
    `alter table users add column mature_content ${integer} not null default 0`,
    `alter table users add column date_closed ${integer}`,
    `alter table users add column date_locked ${integer}`,
    `alter table users add column merged_into ${integer}`,
    `alter table users add column date_merged ${integer}`,
    'create index users_by_merge on users (merged_into)',
  ],
};
