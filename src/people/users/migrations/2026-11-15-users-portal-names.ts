import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-users-portal-names',
  up: ({ text }) => [`alter table users add column portal_names ${text} not null default '{}'`],
};
