import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    moderation_decisions: ModerationDecisionsTable;
  }
}

/** A decision on content, with the moderator and the reason. The last one is in effect. */
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
  /** The author’s appeal and its date; 0 if there is none. */
  appeal: string;
  date_appealed: number;
}
