import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-mod-media',
  up: ({ id, integer, text }) => [
    `create table mod_media (id ${id}, mod_id ${integer} not null, kind ${text} not null, value ${text} not null,
      position ${integer} not null, bytes ${integer} not null, unique (mod_id, kind, value))`,
    'create index mod_media_by_value on mod_media (value)',
  ],
};
