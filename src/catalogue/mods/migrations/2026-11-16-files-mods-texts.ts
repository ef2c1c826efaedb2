import type { Migration } from '../../../platform/database/migrate.ts';

/** Texts that nobody gave are empty, in mods as in their live files. */
const emptied = (table: string, column: string, name: string) =>
  `update ${table} set ${column} = replace(${column}, ',"${name}":null,', ',"${name}":"",')
    where ${column} like '%,"${name}":null,%'`;

export const migration: Migration = {
  name: '2026-11-16-files-mods-texts',
  up: () => [
    emptied('mod_cards', 'body', 'metadata_blob'),
    emptied('mod_documents', 'body', 'metadata_blob'),
    ...['version', 'changelog', 'metadata_blob'].map((name) => emptied('mod_cards', 'file_body', name)),
  ],
};
