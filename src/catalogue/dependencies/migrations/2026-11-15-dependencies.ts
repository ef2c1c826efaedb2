import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-dependencies',
  up: ({ integer }, dialect) => [
    `create table mod_dependencies (mod_id ${integer} not null, dependency_id ${integer} not null,
      date_added ${integer} not null,
      primary key (mod_id, dependency_id))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index mod_dependencies_by_dependency on mod_dependencies (dependency_id, mod_id)',
  ],
};
