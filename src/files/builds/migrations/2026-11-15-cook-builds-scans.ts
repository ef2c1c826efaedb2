import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-cook-builds-scans',
  // What came before was not scanned, and says so; where there is a scanner, a job sees to it.
  up: ({ integer, text }) => [
    `alter table cook_builds add column virus_status ${integer} not null default 0`,
    `alter table cook_builds add column virus_positive ${integer} not null default 0`,
    `alter table cook_builds add column date_scanned ${integer} not null default 0`,
    `alter table cook_builds add column findings ${text} not null default '[]'`,
  ],
};
