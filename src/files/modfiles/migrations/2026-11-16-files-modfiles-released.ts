import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * Marks released files. The history of existing files is unknown: those that are not newer than a live file of their mod
 * count as released, because hiding old versions would break clients that pin them.
 */
export const migration: Migration = {
  name: '2026-11-16-files-modfiles-released',
  up: ({ integer }) => [
    `alter table modfiles add column released ${integer} not null default 0`,
    `update modfiles set released = 1
      where exists (select 1 from mod_live_files l where l.mod_id = modfiles.mod_id and l.modfile_id >= modfiles.id)
        and not exists (select 1 from mod_awaited_files a where a.modfile_id = modfiles.id)
        and not exists (select 1 from releases r where r.modfile_id = modfiles.id)`,
    ...['version', 'changelog', 'metadata_blob'].flatMap((name) => [
      `update modfiles set ${name} = '' where ${name} is null`,
      `update modfile_documents set body = replace(body, ',"${name}":null,', ',"${name}":"",')
        where body like '%,"${name}":null,%'`,
    ]),
  ],
};
