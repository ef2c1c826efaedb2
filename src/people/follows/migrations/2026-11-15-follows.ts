import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-follows',
  up: ({ integer }, dialect) => [
    `create table follows (user_id ${integer} not null, followed_id ${integer} not null, date_added ${integer} not null,
      primary key (user_id, followed_id))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index follows_by_followed on follows (followed_id, user_id)',
  ],
};
