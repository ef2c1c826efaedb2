import type { Migration } from '../../../platform/database/migrate.ts';

/** What a link to the live file says of the file, ready to send but for the signature; its hash stands in there. */
export const migration: Migration = {
  name: '2026-11-15-mods-cards-links',
  up: ({ text }) => [
    `alter table mod_cards add column file_link ${text}`,
    `update mod_cards set file_link = concat(mod_id, '/files/', file_id, '/download/', substr(file_sha256, 1, 43))
      where file_id is not null`,
    'alter table mod_cards drop column file_sha256',
  ],
};
