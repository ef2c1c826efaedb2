import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    revenue_teams: RevenueTeamsTable;
    revenue_shares: RevenueSharesTable;
  }
}

/** Who earns with a mod from this row's date on. Rows are never changed, so past earnings can be explained. */
export interface RevenueTeamsTable {
  id: Generated<number>;
  mod_id: number;
  game_id: number;
  changed_by: number;
  date_added: number;
}

/** A row without shares gives everything to the leader of the mod again. */
export interface RevenueSharesTable {
  revenue_team_id: number;
  user_id: number;
  /** In percent. */
  split: number;
}
