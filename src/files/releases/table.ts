import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    release_guards: ReleaseGuardsTable;
    releases: ReleasesTable;
    release_newcomers: ReleaseNewcomersTable;
  }
}

/** People who confirm by mail what they release, and the code with which they may end that. */
export interface ReleaseGuardsTable {
  user_id: number;
  date_added: number;
  /** None where no code was asked for. */
  code_digest: string | null;
  attempts: number;
  date_asked: number | null;
  date_expires: number | null;
}

/** A file that goes live once somebody has confirmed its release by the link from a mail. */
export interface ReleasesTable {
  id: Generated<number>;
  /** Who confirms it. */
  user_id: number;
  /** Who released it: the same, or someone whom they let into a team. */
  actor_id: number;
  game_id: number;
  mod_id: number;
  modfile_id: number;
  /** 1 where the file is shown without a platform, too. */
  shown: number;
  /** From where it was released; empty where no request did it. */
  ip: string;
  /** The access token with which it was released. */
  token_id: number | null;
  /** Of the link's secret; none until the mail is on its way. */
  digest: string | null;
  date_added: number;
  date_expires: number;
}

/** Members whom someone let into a team who confirms releases: until that person has confirmed one of theirs, too. */
export interface ReleaseNewcomersTable {
  /** `games` or `mods`. */
  resource: string;
  resource_id: number;
  user_id: number;
  guardian_id: number;
  date_added: number;
}
