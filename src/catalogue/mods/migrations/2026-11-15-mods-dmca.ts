import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-mods-dmca',
  up: ({ integer }) => [`alter table mods add column dmca ${integer} not null default 0`],
};
