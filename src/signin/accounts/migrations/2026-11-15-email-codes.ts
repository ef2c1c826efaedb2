import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-email-codes',
  up: ({ id, integer, text }) => [
    `create table email_codes (id ${id}, digest ${text} not null, email ${text} not null, key_id ${integer} not null, ip ${text} not null,
      date_added ${integer} not null, date_expires ${integer} not null, date_redeemed ${integer}, attempts ${integer} not null)`,
    'create index email_codes_by_digest on email_codes (digest)',
    'create index email_codes_by_email on email_codes (email)',
    'create index email_codes_by_asker on email_codes (key_id, ip)',
  ],
};
