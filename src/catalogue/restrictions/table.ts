import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    game_restrictions: GameRestrictionsTable;
  }
}

/** A restriction of a user in a game. */
export interface GameRestrictionsTable {
  id: Generated<number>;
  game_id: number;
  user_id: number;
  /** Bits: 1 add mods, 2 add guides, 4 comment, 8 rate, 16 report. */
  options: number;
  reason: string;
  restricted_by: number;
  date_added: number;
}
