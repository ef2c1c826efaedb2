import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    cooks: CooksTable;
    cook_logs: CookLogsTable;
  }
}

/** The conversion of a source to a file for one platform. */
export interface CooksTable {
  id: Generated<number>;
  cook_uuid: string;
  game_id: number;
  mod_id: number;
  source_id: number;
  /** The id of the cooked file; 0 until then. */
  result_id: number;
  platform: string;
  /** See `states.ts`. */
  status: number;
  /** 1 if the file goes live without a request. */
  active: number;
  /** How often a runner has started it. */
  attempts: number;
  /** In percent, as the runner reports it. */
  progress: number;
  /** The runner that cooks it; null if none does. */
  runner_id: number | null;
  /** Identifies this attempt. A runner with another claim has lost the cook. */
  claim: string | null;
  /** When the runner has to report next. */
  date_lease: number;
  /** The reason of the failure as a keyword; empty otherwise. */
  error: string;
  /** The runner’s details, as a JSON array of texts. */
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
