import type { Migration } from '../../../platform/database/migrate.ts';

/** English documents move to where lists find all that they show of a mod in one row. */
export const migration: Migration = {
  name: '2026-11-15-mods-cards',
  up: ({ integer, text }) => [
    `create table mod_cards (mod_id ${integer} not null primary key, submitted_by ${integer} not null,
      needs ${integer} not null, file_id ${integer}, name_id ${text} not null, file_sha256 ${text}, file_body ${text},
      body ${text} not null)`,
    'create index mod_cards_by_submitted_by on mod_cards (submitted_by)',
    `insert into mod_cards (mod_id, submitted_by, needs, file_id, name_id, file_sha256, file_body, body)
      select m.id, m.submitted_by,
        case when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end,
        l.modfile_id, m.name_id, b.sha256, b.body, d.body
      from mods m join mod_documents d on d.mod_id = m.id and d.language = 'en'
        left join mod_live_files l on l.mod_id = m.id and l.platform = ''
        left join modfile_documents b on b.modfile_id = l.modfile_id`,
    "delete from mod_documents where language = 'en'",
  ],
};
