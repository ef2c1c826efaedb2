import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-mod-download-hours',
  up: ({ integer }) => [
    `create table mod_download_hours (mod_id ${integer} not null, hour ${integer} not null, game_id ${integer} not null,
      downloads ${integer} not null, primary key (mod_id, hour))`,
    'create index mod_download_hours_by_game on mod_download_hours (game_id, hour, mod_id)',
  ],
};
