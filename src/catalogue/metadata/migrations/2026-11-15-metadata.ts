import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-metadata',
  up: ({ id, integer, text }) => [
    `create table mod_metadata (id ${id}, mod_id ${integer} not null, pair ${text} not null, unique (mod_id, pair))`,
    'create index mod_metadata_by_pair on mod_metadata (pair, mod_id)',
  ],
};
