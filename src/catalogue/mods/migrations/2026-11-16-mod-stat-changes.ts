import type { Migration } from '../../../platform/database/migrate.ts';

export const modStatChangesTable: Migration = {
  name: '2026-11-16-mod-stat-changes',
  up: ({ id, integer }) => [
    `create table mod_stat_changes (
      id ${id},
      mod_id ${integer} not null, -- no key: a count must not wait for the mod's row, and a job drops it with the mod
      game_id ${integer} not null, -- no key: repeats the mod's
      downloads_today ${integer} not null,
      downloads_total ${integer} not null,
      subscribers_total ${integer} not null,
      ratings_positive ${integer} not null,
      ratings_negative ${integer} not null
    )`,
    'create index mod_stat_changes_by_mod on mod_stat_changes (mod_id)',
  ],
};
