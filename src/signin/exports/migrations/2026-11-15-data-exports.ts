import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-data-exports',
  up: ({ id, integer, text }) => [
    `create table data_exports (id ${id}, user_id ${integer} not null, date_added ${integer} not null,
      date_expires ${integer} not null, storage_key ${text}, bytes ${integer} not null, sha256 ${text} not null)`,
    'create index data_exports_by_user on data_exports (user_id)',
  ],
};
