import type { Migration } from '../../../platform/database/migrate.ts';

export const oauthSecretOverlap: Migration = {
  name: '2026-11-17-oauth-secret-overlap',
  up: ({ integer, text }) => [
    `alter table oauth_clients add column previous_digest ${text} not null default ''`,
    `alter table oauth_clients add column date_previous_ends ${integer} not null default 0`,
  ],
};
