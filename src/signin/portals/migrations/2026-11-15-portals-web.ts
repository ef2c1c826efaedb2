import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-portals-web',
  up: ({ integer, text }) => [
    `create table portal_journeys (digest ${text} primary key, visit ${text} not null, sealed ${text} not null,
      date_expires ${integer} not null)`,
    `alter table portal_accounts add column monetization_account ${integer} not null default 0`,
    'create index portal_journeys_by_expiry on portal_journeys (date_expires)',
  ],
};
