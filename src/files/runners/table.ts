import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cook_runners: CookRunnersTable;
  }
}

/** A machine of a studio that makes files out of sources. */
export interface CookRunnersTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  /** Separated by spaces. */
  platforms: string;
  /** Of its secret, which is stored nowhere. */
  digest: string;
  added_by: number;
  date_added: number;
  /** When it asked for work last, to the minute. */
  date_seen: number;
  /** 0 as long as it is let in. */
  date_revoked: number;
}
