import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-cook-builds',
  up: ({ id, integer, text }) => [
    `create table cook_builds (id ${id}, game_id ${integer} not null, is_live ${integer} not null,
      total ${integer} not null, bytes_uncompressed ${integer} not null,
      added_by ${integer} not null, date_added ${integer} not null, date_updated ${integer} not null,
      date_expires ${integer} not null, build_uuid ${text} not null unique, state ${text} not null,
      filename ${text} not null, handle ${text}, storage_key ${text}, md5 ${text} not null, sha256 ${text} not null,
      problem ${text} not null)`,
    'create index cook_builds_by_game on cook_builds (game_id, id)',
    `create table cook_build_parts (build_id ${integer} not null, part_number ${integer} not null,
      start ${integer} not null, bytes ${integer} not null, sha256 ${text} not null, tag ${text} not null,
      primary key (build_id, part_number))`,
  ],
};
