import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-oauth-access-epochs',
  up: ({ integer }) => [
    `alter table oauth_clients add column epoch ${integer} not null default 0`,
    ...['oauth_codes', 'oauth_grants'].flatMap((table) => [
      `alter table ${table} add column epoch ${integer} not null default 0`,
      `alter table ${table} add column all_games ${integer} not null default 0`,
    ]),
  ],
};
