import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    moderation_decisions: ModerationDecisionsTable;
  }
}

/** What was decided over something, by whom and why. The last one counts. */
export interface ModerationDecisionsTable {
  id: Generated<number>;
  game_id: number;
  /** `mods`, `guides`, `collections` or `comments`. */
  resource: string;
  resource_id: number;
  /** approve, deny, delete, restore, takedown. */
  action: string;
  reason: string;
  /** 0 for the service itself. */
  user_id: number;
  date_added: number;
  /** What the author says against it, and when; 0 while they have said nothing. */
  appeal: string;
  date_appealed: number;
}
