import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    oauth_clients: OauthClientsTable;
    oauth_grants: OauthGrantsTable;
    oauth_codes: OauthCodesTable;
    oauth_refresh_tokens: OauthRefreshTokensTable;
  }
}

/** A registered client. The id is the `client_id`. */
export interface OauthClientsTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  secret_digest: string;
  /** A JSON list of addresses. */
  redirect_uris: string;
  /** Separated by spaces. */
  grants: string;
  date_added: number;
  date_revoked: number | null;
  /** 1 if a code needs a code challenge. */
  requires_pkce: Generated<number>;
  /** Changes with every new secret. */
  epoch: Generated<number>;
  /** 1 if it speaks plain RFC 6749 without the additions of the specification. */
  standard: Generated<number>;
  /** The digest of the secret before the current one, which is valid until then; empty if there is none. */
  previous_digest: Generated<string>;
  date_previous_ends: Generated<number>;
}

/** A user’s consent to a client. Revoking it revokes all tokens issued for it. */
export interface OauthGrantsTable {
  id: Generated<number>;
  client_id: number;
  user_id: number;
  /** Separated by spaces. */
  scopes: string;
  redirect_uri: string;
  date_added: number;
  date_revoked: number | null;
  /** The user’s epoch at the time of the consent. */
  epoch: number;
  /** 1 if the grant covers all games, and not only the client’s own. */
  all_games: number;
}

export interface OauthCodesTable {
  id: Generated<number>;
  digest: string;
  client_id: number;
  user_id: number;
  scopes: string;
  redirect_uri: string;
  /** The SHA-256 of the verifier, if the client sent a challenge. */
  challenge: string | null;
  date_expires: number;
  date_redeemed: number | null;
  /** The grant that the code was redeemed for. */
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
  /** When its successor was issued. */
  date_rotated: number | null;
}
