import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-oauth-clients',
  up: ({ id, integer, text }) => [
    `create table oauth_clients (id ${id}, game_id ${integer} not null, name ${text} not null, secret_digest ${text} not null,
      redirect_uris ${text} not null, grants ${text} not null, date_added ${integer} not null, date_revoked ${integer})`,
    'create index oauth_clients_by_game on oauth_clients (game_id)',
  ],
};
