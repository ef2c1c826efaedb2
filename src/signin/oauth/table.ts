import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    oauth_clients: OauthClientsTable;
    oauth_grants: OauthGrantsTable;
    oauth_codes: OauthCodesTable;
    oauth_refresh_tokens: OauthRefreshTokensTable;
  }
}

/** A program that people, or its game, let act for them. The id is the `client_id`. */
export interface OauthClientsTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  secret_digest: string;
  /** JSON: a list of addresses. */
  redirect_uris: string;
  /** Separated by spaces. */
  grants: string;
  date_added: number;
  date_revoked: number | null;
  /** 1 where a code is given only for a code challenge. */
  requires_pkce: Generated<number>;
  /** Begins anew with every secret. */
  epoch: Generated<number>;
  /** 1 where it speaks plain RFC 6749, without what the specification adds to it. */
  standard: Generated<number>;
}

/** What a person once allowed a client. Every token that came of it ends with it. */
export interface OauthGrantsTable {
  id: Generated<number>;
  client_id: number;
  user_id: number;
  /** Separated by spaces. */
  scopes: string;
  redirect_uri: string;
  date_added: number;
  date_revoked: number | null;
  /** The person's epoch in which they allowed it. */
  epoch: number;
  /** 1 where the client may reach all games, and not only the one that it belongs to. */
  all_games: number;
}

export interface OauthCodesTable {
  id: Generated<number>;
  digest: string;
  client_id: number;
  user_id: number;
  scopes: string;
  redirect_uri: string;
  /** SHA-256 of the verifier that must come with the code, where the client asked for that. */
  challenge: string | null;
  date_expires: number;
  date_redeemed: number | null;
  /** What it was redeemed for. */
  grant_id: number | null;
  epoch: number;
  all_games: number;
}

export interface OauthRefreshTokensTable {
  id: Generated<number>;
  digest: string;
  grant_id: number;
  date_added: number;
  date_expires: number;
  /** When its successor was given out. */
  date_rotated: number | null;
}
