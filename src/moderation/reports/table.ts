import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    reports: ReportsTable;
  }
}

/** What someone finds wrong with something. */
export interface ReportsTable {
  id: Generated<number>;
  /** What it is about: the plural noun of its path, and its id. */
  resource: string;
  resource_id: number;
  /** The game whose team decides over it; 0 where those who run the site do. */
  game_id: number;
  /** Who made what is reported; of a person the person. */
  author_id: number;
  /** Who reports it; 0 where nobody was signed in. */
  user_id: number;
  /** The rule of the game that reports it; 0 where a person does. */
  rule_id: Generated<number>;
  /** 0 generic, 1 copyright, 2 not working, 3 rude, 4 illegal, 5 stolen, 6 false, 7 other. */
  type: number;
  /** Why it does not work: 0 to 8. */
  reason: number;
  /** 0 open, 1 resolved. */
  status: number;
  date_added: number;
  date_resolved: number;
  resolved_by: number;
  /** Where it does not work, joined by commas; empty where nothing was said. */
  platforms: string;
  /** Who wants to be answered, and how. */
  name: string;
  contact: string;
  summary: string;
  /** What those who decided have said. */
  resolution: string;
}
