import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-oauth-clients-standard',
  up: ({ integer }) => [`alter table oauth_clients add column standard ${integer} not null default 0`],
};
