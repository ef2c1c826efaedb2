import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-email-changes',
  up: ({ integer, text }) => [
    `create table email_changes (user_id ${integer} not null primary key, email ${text} not null, old_digest ${text},
      new_digest ${text} not null, attempts ${integer} not null, date_added ${integer} not null,
      date_expires ${integer} not null)`,
  ],
};
