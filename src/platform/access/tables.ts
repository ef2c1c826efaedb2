import type { Generated } from 'kysely';

declare module '../database/database.ts' {
  interface Tables {
    api_keys: ApiKeysTable;
    access_tokens: AccessTokensTable;
    service_tokens: ServiceTokensTable;
    access_epochs: AccessEpochsTable;
  }
}

/** Belongs to a game or to a user. Only a digest of the key is stored. */
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
  /** The registered client that received the token; null if the user signed in without one or created the token. */
  client_id: number | null;
  /** The grant of the user to that client. The token ends with it. */
  grant_id: number | null;
  /** The name that its owner gave it. */
  name: string | null;
  /**
   * The user's epoch at the time of issue, or that of the credential it was exchanged for. The token is invalid in any
   * other.
   */
  epoch: Generated<number>;
  /** The same for the client, if the client had to authenticate with its secret. */
  client_epoch: number | null;
  /** 1 if the user granted the client all games and not only its own. */
  all_games: Generated<number>;
  /** 1 if the user authorised the holder, such as a device, without a choice of permissions. */
  content_only: Generated<number>;
}

/** Incremented when all credentials of a user are revoked. A user without a row is in epoch 0. */
interface AccessEpochsTable {
  user_id: number;
  epoch: number;
}

/** Tokens of game backends. */
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
  /** The client's epoch at the time of issue. */
  client_epoch: Generated<number>;
}
