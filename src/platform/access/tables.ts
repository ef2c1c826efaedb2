import type { Generated } from 'kysely';

declare module '../database/database.ts' {
  interface Tables {
    api_keys: ApiKeysTable;
    access_tokens: AccessTokensTable;
    service_tokens: ServiceTokensTable;
    access_epochs: AccessEpochsTable;
  }
}

/** Belongs to a game or to a user. Only a digest of the key is kept. */
interface ApiKeysTable {
  id: Generated<number>;
  digest: string;
  game_id: number | null;
  user_id: number | null;
  date_added: number;
  date_revoked: number | null;
}

interface AccessTokensTable {
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
interface AccessEpochsTable {
  user_id: number;
  epoch: number;
}

/** Tokens of games' backends. */
interface ServiceTokensTable {
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
