import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    reviewing_games: ReviewingGamesTable;
    permission_reviews: PermissionReviewsTable;
  }
}

/** Games whose sensitive changes wait for a second administrator. */
interface ReviewingGamesTable {
  game_id: number;
  date_added: number;
}

export interface PermissionReviewsTable {
  id: Generated<number>;
  game_id: number;
  requested_by: number;
  /** The change as JSON; equal changes have equal texts. */
  change: string;
  /** 1 or 0 after the decision. */
  approved: number | null;
  decided_by: number | null;
  date_added: number;
  date_expires: number;
  /** When the requester made the approved change. */
  date_used: number | null;
}
