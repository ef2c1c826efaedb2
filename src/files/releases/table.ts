import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    release_guards: ReleaseGuardsTable;
    releases: ReleasesTable;
    release_newcomers: ReleaseNewcomersTable;
  }
}

/** Users that confirm their releases by mail, and the code that ends it. */
export interface ReleaseGuardsTable {
  user_id: number;
  date_added: number;
  /** Null if no code was requested. */
  code_digest: string | null;
  attempts: number;
  date_asked: number | null;
  date_expires: number | null;
}

/** A file that goes live once its release is confirmed by the link in a mail. */
export interface ReleasesTable {
  id: Generated<number>;
  /** The user that has to confirm. */
  user_id: number;
  /** The user that released it: the same one, or a team member that they added. */
  actor_id: number;
  game_id: number;
  mod_id: number;
  modfile_id: number;
  /** 1 if the file is also shown without a platform. */
  shown: number;
  /** The client’s address. Empty if no request released the file. */
  ip: string;
  /** The access token of the request. */
  token_id: number | null;
  /** The digest of the link’s secret. Null until the mail is sent. */
  digest: string | null;
  date_added: number;
  date_expires: number;
}

/**
 * Team members that were added by a user that confirms releases. A row is removed when that user has confirmed one of
 * their releases.
 */
export interface ReleaseNewcomersTable {
  /** `games` or `mods`. */
  resource: string;
  resource_id: number;
  user_id: number;
  guardian_id: number;
  date_added: number;
}
