import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-files-platform-download-hours',
  up: ({ integer, text }) => [
    `create table mod_platform_download_hours (mod_id ${integer} not null, platform ${text} not null,
      hour ${integer} not null, game_id ${integer} not null, downloads ${integer} not null,
      primary key (mod_id, platform, hour))`,
    'create index mod_platform_download_hours_by_game on mod_platform_download_hours (game_id, platform, hour)',
  ],
};
