import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    moderation_claims: ModerationClaimsTable;
    moderation_days: ModerationDaysTable;
    moderation_decisions: ModerationDecisionsTable;
    moderation_snapshots: ModerationSnapshotsTable;
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
  /** The content's `status` before and after the decision; -1 if unknown. */
  status_before: Generated<number>;
  status_after: Generated<number>;
  /** The seconds that the content waited for the decision; -1 if it did not wait. */
  waited: Generated<number>;
}

/** A moderator works on the content until the claim expires: nobody else can decide. */
export interface ModerationClaimsTable {
  resource: string;
  resource_id: number;
  game_id: number;
  user_id: number;
  date_expires: number;
}

/** The content as it was when it was decided on, for the last two decisions. */
export interface ModerationSnapshotsTable {
  decision_id: number;
  author_id: number;
  /** A JSON object of texts by field. */
  fields: string;
}

/** The number of decisions of people, by the day on which they were made. Only triggers of the decisions write it. */
export interface ModerationDaysTable {
  game_id: number;
  /** Its first second, in UTC. */
  day: number;
  user_id: number;
  action: string;
  decisions: number;
}
