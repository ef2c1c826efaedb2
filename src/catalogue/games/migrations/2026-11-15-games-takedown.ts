import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-games-takedown',
  up: ({ integer }) => [`alter table games add column takedown_reports ${integer} not null default 0`],
};
