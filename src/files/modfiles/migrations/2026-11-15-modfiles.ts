import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-modfiles',
  up: ({ id, integer, text }, dialect) => {
    const keyed = dialect === 'sqlite' ? ' without rowid' : '';
    return [
      // Numbers before texts: SQLite then finds what filters ask for at the beginning of a row.
      `create table modfiles (id ${id}, mod_id ${integer} not null, game_id ${integer} not null,
        submitted_by ${integer} not null, date_added ${integer} not null,
        date_updated ${integer} not null, date_scanned ${integer} not null, virus_status ${integer} not null,
        virus_positive ${integer} not null, filesize ${integer} not null, filesize_uncompressed ${integer} not null,
        status ${integer} not null, withdrawn ${integer} not null, kind ${text} not null, virustotal_hash ${text}, md5 ${text} not null,
        sha256 ${text} not null, storage_key ${text} not null, filename ${text} not null, version ${text},
        version_folded ${text} not null, changelog ${text}, changelog_folded ${text} not null,
        metadata_blob ${text})`,
      'create index modfiles_by_mod on modfiles (mod_id, status, kind, id)',
      'create index modfiles_by_submitter on modfiles (submitted_by, status, kind, id)',
      'create index modfiles_by_storage_key on modfiles (storage_key)',
      `create table modfile_documents (modfile_id ${integer} not null primary key, body ${text} not null)`,
      `create table modfile_platforms (modfile_id ${integer} not null, platform ${text} not null,
        status ${integer} not null, primary key (modfile_id, platform))${keyed}`,
      `create table mod_live_files (mod_id ${integer} not null, platform ${text} not null,
        modfile_id ${integer} not null, primary key (mod_id, platform))${keyed}`,
      'create index mod_live_files_by_modfile on mod_live_files (modfile_id)',
    ];
  },
};
