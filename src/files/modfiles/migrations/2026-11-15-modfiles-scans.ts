import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-modfiles-scans',
  up: ({ integer, text }, dialect) => {
    const keyed = dialect === 'sqlite' ? ' without rowid' : '';
    return [
      `create table mod_awaited_files (mod_id ${integer} not null, platform ${text} not null,
        modfile_id ${integer} not null, primary key (mod_id, platform))${keyed}`,
      'create index mod_awaited_files_by_modfile on mod_awaited_files (modfile_id)',
      'create index modfiles_never_scanned on modfiles (storage_key) where date_scanned = 0 and status <> 3',
    ];
  },
};
