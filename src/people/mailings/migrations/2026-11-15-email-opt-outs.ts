import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-email-opt-outs',
  up: ({ integer, text }) => [
    `create table email_opt_outs (address_digest ${text} not null primary key, date_added ${integer} not null)`,
  ],
};
