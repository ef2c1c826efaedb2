import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    reports: ReportsTable;
  }
}

/** A report about content or a user. */
export interface ReportsTable {
  id: Generated<number>;
  /** The subject: its resource as in its path (plural), and its id. */
  resource: string;
  resource_id: number;
  /** The game whose team resolves it; 0 for site administrators. */
  game_id: number;
  /** The author of the reported content; for a user the user. */
  author_id: number;
  /** The reporter; 0 for an anonymous one. */
  user_id: number;
  /** The rule of the game that reported it; 0 if a user did. */
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
  /** The platforms on which it does not work, joined by commas; empty if none were named. */
  platforms: string;
  /** The name and contact of the reporter. */
  name: string;
  contact: string;
  summary: string;
  /** The text of a report by the service, as JSON, because its readers have different languages; empty otherwise. */
  found: Generated<string>;
  /** The answer of the moderators. */
  resolution: string;
}
