import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-findings',
  up: ({ id, integer, text }) => [
    `create table modfile_findings (id ${id}, game_id ${integer} not null, mod_id ${integer} not null,
      modfile_id ${integer} not null, kind ${integer} not null, path ${text} not null, detail ${text} not null,
      date_added ${integer} not null)`,
    'create index modfile_findings_by_game on modfile_findings (game_id, id)',
    'create index modfile_findings_by_mod on modfile_findings (mod_id)',
    'create index modfile_findings_by_modfile on modfile_findings (modfile_id)',
    `create table game_file_types (game_id ${integer} not null primary key, refused ${text} not null,
      reported ${text} not null)`,
  ],
};
