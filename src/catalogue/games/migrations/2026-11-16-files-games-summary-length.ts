import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-files-games-summary-length',
  up: ({ integer }) => [`alter table games add column summary_length_max ${integer} not null default 200`],
};
