import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    sessions: SessionsTable;
  }
}

/** A browser in which someone is signed in to the pages. Only a digest of its cookie is kept. */
export interface SessionsTable {
  id: Generated<number>;
  digest: string;
  user_id: number;
  /** What the browser calls itself, so that people recognise it. */
  user_agent: string;
  date_added: number;
  date_expires: number;
  date_revoked: number | null;
}
