declare module '../../platform/database/database.ts' {
  interface Tables {
    plans: PlansTable;
    game_plans: GamePlansTable;
    game_usage: GameUsageTable;
  }
}

/** The limits of a plan. A plan without a row has none. */
export interface PlansTable {
  name: string;
  /** 0 for any number. */
  mods_max: number;
  /** 0 for any size. */
  storage_megabytes_max: number;
  /** 1 if games with this plan may sell. */
  may_sell: number;
  date_updated: number;
}

/** The plan that the operator gave a game. */
export interface GamePlansTable {
  game_id: number;
  plan: string;
  date_added: number;
}

/** What a game has of what plans limit, as the sum of some rows. Only triggers write it. */
export interface GameUsageTable {
  game_id: number;
  slot: number;
  mods: number;
  bytes: number;
}
