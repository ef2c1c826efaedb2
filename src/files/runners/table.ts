import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cook_runners: CookRunnersTable;
  }
}

/** A machine of a studio that cooks sources. */
export interface CookRunnersTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  /** Separated by spaces. */
  platforms: string;
  /** The digest of its secret, which is never stored. */
  digest: string;
  added_by: number;
  date_added: number;
  /** When it last asked for a cook, to the minute. */
  date_seen: number;
  /** 0 while the runner is valid. */
  date_revoked: number;
}
