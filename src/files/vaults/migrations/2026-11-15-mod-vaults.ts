import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-mod-vaults',
  up: ({ integer }) => [
    `create table mod_vaults (mod_id ${integer} primary key, date_opens ${integer} not null,
      date_closes ${integer} not null, date_updated ${integer} not null)`,
  ],
};
