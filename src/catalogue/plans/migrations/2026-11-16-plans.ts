import type { Migration } from '../../../platform/database/migrate.ts';

export const plansTables: Migration = {
  name: '2026-11-16-plans',
  up: ({ integer, text }) => [
    `create table plans (
      name ${text} not null primary key,
      mods_max ${integer} not null,
      storage_megabytes_max ${integer} not null,
      may_sell ${integer} not null,
      date_updated ${integer} not null
    )`,
    `create table game_plans (
      game_id ${integer} primary key references games (id),
      plan ${text} not null,
      date_added ${integer} not null
    )`,
  ],
};
