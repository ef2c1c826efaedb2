import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    release_guards: ReleaseGuardsTable;
    releases: ReleasesTable;
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

/** A file that goes live once the person who released it has confirmed that by the link from a mail. */
export interface ReleasesTable {
  id: Generated<number>;
  user_id: number;
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
