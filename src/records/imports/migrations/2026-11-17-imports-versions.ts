import type { Migration } from '../../../platform/database/migrate.ts';

export const importedVersions: Migration = {
  name: '2026-11-17-imports-versions',
  up: ({ id, integer, text }) => [
    `alter table imported_ids add column version ${text} not null default ''`,
    `alter table imported_ids add column kept_in ${integer} not null default 0`,
    `create table import_removals (
      id ${id},
      import_id ${integer} not null references imports (id) on delete cascade,
      resource ${text} not null,
      old_id ${integer} not null, -- no key: of another service
      change ${text} not null,
      name ${text} not null
    )`,
    'create index import_removals_by_import on import_removals (import_id, id)',
  ],
};
