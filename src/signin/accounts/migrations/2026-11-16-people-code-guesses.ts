import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-people-code-guesses',
  up: ({ integer, text }) => [
    `alter table email_codes add column handle_digest ${text}`,
    `alter table email_codes add column lane ${text} not null default ''`,
    `alter table email_codes add column is_short ${integer} not null default 1`,
    `alter table email_codes add column handle_attempts ${integer} not null default 0`,
    `alter table email_codes add column remote_attempts ${integer} not null default 0`,
    'create index email_codes_by_handle on email_codes (handle_digest)',
    'create index email_codes_by_place on email_codes (ip, date_expires)',
    `create table code_counters (bucket ${text} not null primary key, used ${integer} not null, date_ends ${integer} not null)`,
    'create index code_counters_by_end on code_counters (date_ends)',
    `create table known_places (user_id ${integer} not null, digest ${text} not null, date_seen ${integer} not null,
      primary key (user_id, digest))`,
  ],
};
