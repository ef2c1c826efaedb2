import type { Migration } from '../../../platform/database/migrate.ts';

export const importsTables: Migration = {
  name: '2026-11-17-imports',
  up: ({ id, integer, text, clustered }) => [
    `create table imports (
      id ${id},
      source ${text} not null,
      digest ${text} not null unique,
      into_empty ${integer} not null,
      date_added ${integer} not null,
      date_finished ${integer} not null
    )`,
    `create table import_parts (
      import_id ${integer} not null references imports (id) on delete cascade,
      name ${text} not null,
      done ${integer} not null,
      rows_taken ${integer} not null,
      primary key (import_id, name)
    )${clustered}`,
    `create table import_refusals (
      id ${id},
      import_id ${integer} not null references imports (id) on delete cascade,
      part ${text} not null,
      line ${integer} not null,
      reason ${text} not null
    )`,
    'create index import_refusals_by_import on import_refusals (import_id, id)',
    `create table imported_ids (
      source ${text} not null,
      resource ${text} not null,
      old_id ${integer} not null, -- no key: of another service
      new_id ${integer} not null, -- no key: of any resource
      import_id ${integer} not null references imports (id),
      primary key (source, resource, old_id)
    )${clustered}`,
    'create index imported_ids_by_old_id on imported_ids (resource, old_id)',
    'create index imported_ids_by_new_id on imported_ids (resource, new_id)',
    'create index imported_ids_by_import on imported_ids (import_id, resource, new_id)',
  ],
};
