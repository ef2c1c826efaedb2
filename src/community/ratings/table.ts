import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    ratings: RatingsTable;
  }
}

/** What someone thinks of a mod or, by their noun, a collection: 1 or -1. Who takes it back has no row. */
export interface RatingsTable {
  id: Generated<number>;
  user_id: number;
  game_id: number;
  resource: string;
  resource_id: number;
  rating: number;
  date_added: number;
}
