import type { Migration } from '../../../platform/database/migrate.ts';

export const serverTokensTables: Migration = {
  name: '2026-11-17-server-tokens',
  up: ({ id, integer, text, clustered }) => [
    `create table server_tokens (
      id ${id},
      digest ${text} not null unique,
      game_id ${integer} not null references games (id) on delete cascade,
      name ${text} not null,
      scope ${text} not null,
      collection_id ${integer} references collections (id) on delete cascade,
      requests_per_minute ${integer},
      date_added ${integer} not null,
      date_expires ${integer} not null,
      date_revoked ${integer}
    )`,
    'create index server_tokens_by_game on server_tokens (game_id, id)',
    'create index server_tokens_by_collection on server_tokens (collection_id)',
    `create table server_token_mods (
      token_id ${integer} not null references server_tokens (id) on delete cascade,
      mod_id ${integer} not null references mods (id) on delete cascade,
      primary key (token_id, mod_id)
    )${clustered}`,
    'create index server_token_mods_by_mod on server_token_mods (mod_id)',
    `create table game_server_settings (
      game_id ${integer} primary key references games (id) on delete cascade,
      anonymous_access ${integer} not null
    )`,
  ],
};
