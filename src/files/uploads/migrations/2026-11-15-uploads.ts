import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-uploads',
  up: ({ id, integer, text }) => [
    `create table uploads (
      id ${id},
      upload_id ${text} not null unique,
      game_id ${integer} not null,
      mod_id ${integer} not null,
      user_id ${integer} not null,
      filename ${text} not null,
      nonce ${text},
      status ${integer} not null,
      total ${integer} not null,
      received ${integer} not null,
      handle ${text},
      claim ${text},
      claim_until ${integer} not null,
      md5 ${text},
      sha256 ${text},
      used ${integer} not null default 0,
      date_added ${integer} not null,
      date_updated ${integer} not null,
      unique (mod_id, user_id, nonce)
    )`,
    'create index uploads_by_user on uploads (user_id, status)',
    'create index uploads_by_status on uploads (status, date_updated)',
    `create table upload_parts (
      upload_id ${text} not null,
      part_number ${integer} not null,
      start ${integer} not null,
      bytes ${integer} not null,
      sha256 ${text},
      tag ${text} not null,
      claim ${text},
      claim_until ${integer} not null,
      wanted ${integer} not null default 0,
      date_added ${integer} not null,
      primary key (upload_id, part_number)
    )`,
  ],
};
