import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    sessions: SessionsTable;
  }
}

/** A browser that is signed in to the pages. Only a digest of its cookie is stored. */
export interface SessionsTable {
  id: Generated<number>;
  digest: string;
  user_id: number;
  /** The User-Agent, so that users can recognise the browser. */
  user_agent: string;
  date_added: number;
  date_expires: number;
  date_revoked: number | null;
}
