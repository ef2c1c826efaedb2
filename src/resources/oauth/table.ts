import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    oauth_clients: OauthClientsTable;
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
}
