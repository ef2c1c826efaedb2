declare module '../../platform/database/database.ts' {
  interface Tables {
    game_wordlists: GameWordlistsTable;
  }
}

/** Words that a game allows or denies in addition to its filter level. */
export interface GameWordlistsTable {
  game_id: number;
  /** JSON lists. */
  allowed: string;
  denied: string;
  date_updated: number;
}
