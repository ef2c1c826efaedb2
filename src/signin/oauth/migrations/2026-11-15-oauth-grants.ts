import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-oauth-grants',
  up: ({ id, integer, text }) => [
    `alter table oauth_clients add column requires_pkce ${integer} not null default 0`,
    `create table oauth_grants (id ${id}, client_id ${integer} not null, user_id ${integer} not null, scopes ${text} not null,
      redirect_uri ${text} not null, date_added ${integer} not null, date_revoked ${integer})`,
    'create index oauth_grants_by_user on oauth_grants (user_id)',
    'create index oauth_grants_by_client on oauth_grants (client_id)',
    `create table oauth_codes (id ${id}, digest ${text} not null unique, client_id ${integer} not null, user_id ${integer} not null,
      scopes ${text} not null, redirect_uri ${text} not null, challenge ${text}, date_expires ${integer} not null,
      date_redeemed ${integer}, grant_id ${integer})`,
    'create index oauth_codes_by_user on oauth_codes (user_id)',
    `create table oauth_refresh_tokens (id ${id}, digest ${text} not null unique, grant_id ${integer} not null,
      date_added ${integer} not null, date_expires ${integer} not null, date_rotated ${integer})`,
    'create index oauth_refresh_tokens_by_grant on oauth_refresh_tokens (grant_id)',
  ],
};
