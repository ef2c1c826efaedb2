import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    ratings: RatingsTable;
  }
}

/** A user’s rating of a mod or a collection: 1 or -1. A removed rating has no row. */
export interface RatingsTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  resource: string;
  resource_id: number;
  rating: number;
  date_added: number;
}
