import type { Generated } from 'kysely';
import type { Migration } from '../database/migrate.ts';

declare module '../database/database.ts' {
  interface Tables {
    api_keys: ApiKeysTable;
    access_tokens: AccessTokensTable;
    service_tokens: ServiceTokensTable;
    access_epochs: AccessEpochsTable;
  }
}

/** Belongs to a game or to a user. Only a digest of the key is kept. */
export interface ApiKeysTable {
  id: Generated<number>;
  digest: string;
  game_id: number | null;
  user_id: number | null;
  date_added: number;
  date_revoked: number | null;
}

export interface AccessTokensTable {
  id: Generated<number>;
  digest: string;
  user_id: number;
  game_id: number | null;
  /** Separated by spaces. */
  scopes: string;
  date_added: number;
  date_expires: number;
  date_revoked: number | null;
  /** The registered client that it was given to; none where people signed in without one, or made it themselves. */
  client_id: number | null;
  /** What the person allowed that client, with which the token ends. */
  grant_id: number | null;
  /** What its owner calls it. */
  name: string | null;
  /** The person's epoch in which it was given, or whatever it was given for. It is good in no other. */
  epoch: Generated<number>;
  /** The same of the client, where the client had to show its secret to get it. */
  client_epoch: number | null;
  /** 1 where the person let the client reach more than the game that it belongs to. */
  all_games: Generated<number>;
  /** 1 where something got it that the person let in without a look at its powers, such as a device. */
  content_only: Generated<number>;
}

/** Begins anew when all that acts for a person ends. A person without a row is in their first, 0. */
export interface AccessEpochsTable {
  user_id: number;
  epoch: number;
}

/** Tokens of games' backends. */
export interface ServiceTokensTable {
  id: Generated<number>;
  digest: string;
  client_id: number;
  game_id: number;
  /** Separated by spaces. */
  scopes: string;
  date_added: number;
  date_expires: number;
  date_revoked: number | null;
  /** The client's epoch in which it was given. */
  client_epoch: Generated<number>;
}

export const accessMigrations: Migration[] = [
  {
    name: '2026-11-15-access',
    up: ({ id, integer, text }) => [
      `create table api_keys (id ${id}, digest ${text} not null unique, game_id ${integer}, user_id ${integer},
        date_added ${integer} not null, date_revoked ${integer})`,
      'create index api_keys_by_game on api_keys (game_id)',
      'create index api_keys_by_user on api_keys (user_id)',
      `create table access_tokens (id ${id}, digest ${text} not null unique, user_id ${integer} not null, game_id ${integer},
        scopes ${text} not null, date_added ${integer} not null, date_expires ${integer} not null, date_revoked ${integer})`,
      'create index access_tokens_by_user on access_tokens (user_id)',
    ],
  },
  {
    name: '2026-11-15-access-of-clients',
    up: ({ id, integer, text }) => [
      `alter table access_tokens add column client_id ${integer}`,
      `alter table access_tokens add column grant_id ${integer}`,
      `alter table access_tokens add column name ${text}`,
      'create index access_tokens_by_grant on access_tokens (grant_id)',
      'create index access_tokens_by_client on access_tokens (client_id)',
      `create table service_tokens (id ${id}, digest ${text} not null unique, client_id ${integer} not null,
        game_id ${integer} not null, scopes ${text} not null, date_added ${integer} not null,
        date_expires ${integer} not null, date_revoked ${integer})`,
      'create index service_tokens_by_client on service_tokens (client_id)',
    ],
  },
  {
    name: '2026-11-16-access-epochs',
    up: ({ integer }) => [
      `create table access_epochs (user_id ${integer} primary key, epoch ${integer} not null)`,
      `alter table access_tokens add column epoch ${integer} not null default 0`,
      `alter table access_tokens add column client_epoch ${integer}`,
      `alter table access_tokens add column all_games ${integer} not null default 0`,
      `alter table access_tokens add column content_only ${integer} not null default 0`,
      `alter table service_tokens add column client_epoch ${integer} not null default 0`,
    ],
  },
];
