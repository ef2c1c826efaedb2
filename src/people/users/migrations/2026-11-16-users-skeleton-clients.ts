import type { Migration } from '../../../platform/database/migrate.ts';

/** `fillSkeletons` fills it for people who are there already. */
export const migration: Migration = {
  name: '2026-11-16-users-skeleton-clients',
  up: ({ text }) => [
    `alter table users add column username_skeleton ${text} not null default ''`,
    'create index users_by_skeleton on users (username_skeleton, id)',
  ],
};
