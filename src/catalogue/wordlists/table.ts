declare module '../../platform/database/database.ts' {
  interface Tables {
    game_wordlists: GameWordlistsTable;
  }
}

/** Words that a game allows or denies besides those of its filter's level. */
export interface GameWordlistsTable {
  game_id: number;
  /** JSON lists. */
  allowed: string;
  denied: string;
  date_updated: number;
}
