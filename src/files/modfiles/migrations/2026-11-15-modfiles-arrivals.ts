import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-modfiles-arrivals',
  up: ({ integer, text }) => [
    `create table modfile_arrivals (token ${text} not null primary key, storage_key ${text} not null,
      date_expires ${integer} not null)`,
    'create index modfile_arrivals_by_key on modfile_arrivals (storage_key)',
    `alter table modfiles add column filename_folded ${text} not null default ''`,
    `alter table modfiles add column metadata_blob_folded ${text} not null default ''`,
  ],
};
