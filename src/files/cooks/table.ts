import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cooks: CooksTable;
    cook_logs: CookLogsTable;
  }
}

/** A source that becomes, or became, a file for one platform. */
export interface CooksTable {
  id: Generated<number>;
  cook_uuid: string;
  game_id: number;
  mod_id: number;
  source_id: number;
  /** The file that it became; 0 until then. */
  result_id: number;
  platform: string;
  /** See `states.ts`. */
  status: number;
  /** 1 where the file goes live by itself. */
  active: number;
  /** How often a runner began with it. */
  attempts: number;
  /** In percent, as the runner tells it. */
  progress: number;
  /** Who cooks it; null while nobody does. */
  runner_id: number | null;
  /** Of this attempt: whoever cannot name it has lost the cook to another. */
  claim: string | null;
  /** Until when the runner has to say that it goes on. */
  date_lease: number;
  /** Why it failed, as a word; empty otherwise. */
  error: string;
  /** Texts that the runner tells about it, as a JSON array. */
  metadata: string;
  started_by: number;
  date_added: number;
  date_updated: number;
}

interface CookLogsTable {
  id: Generated<number>;
  cook_id: number;
  line: string;
}
