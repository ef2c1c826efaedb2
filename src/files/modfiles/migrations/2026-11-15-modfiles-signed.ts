import type { Migration } from '../../../platform/database/migrate.ts';

/** Links are signed for the bytes of a file, whose hash pages of mods find beside its text. */
export const migration: Migration = {
  name: '2026-11-15-modfiles-signed',
  up: ({ text }) => [
    `alter table modfile_documents add column sha256 ${text} not null default ''`,
    'update modfile_documents set sha256 = (select f.sha256 from modfiles f where f.id = modfile_documents.modfile_id)',
  ],
};
