import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    metrics_changes: MetricsChangesTable;
    metrics_secrets: { game_id: number; sealed: string; date_added: number };
    metrics_sessions: MetricsSessionsTable;
    metrics_seen: { game_id: number; session_hash: string; date_added: number };
    metrics_active: { game_id: number; day: number; who: string; counted: number };
    metrics_active_months: { game_id: number; month: number; who: string; counted: number };
    metrics_days: MetricsDaysTable;
    metrics_months: MetricsMonthsTable;
    metrics_mod_months: { game_id: number; month: number; mod_id: number; downloads: number; subscribers: number };
    metrics_mod_days: MetricsModDaysTable;
    metrics_platform_active: { game_id: number; platform: string; day: number; who: string; counted: number };
    metrics_platform_active_months: { game_id: number; platform: string; month: number; who: string; counted: number };
    metrics_platform_days: MetricsDaysTable & { platform: string };
    metrics_platform_months: MetricsMonthsTable & { platform: string };
    metrics_platform_mod_months: Tables['metrics_mod_months'] & { platform: string };
    metrics_platform_creator_months: Tables['metrics_creator_months'] & { platform: string };
    metrics_creator_months: { game_id: number; month: number; user_id: number; downloads: number; subscribers: number };
  }
}

/** The counters of a mod in a day. */
export interface MetricsModDaysTable {
  mod_id: number;
  /** `''` is the sum of all platforms. */
  platform: string;
  /** Unix days. */
  day: number;
  downloads: number;
  /** New subscriptions less ended ones. */
  subscribers: number;
  ratings_positive: number;
  ratings_negative: number;
}

/** Counts and activity that are not yet part of the other tables. */
export interface MetricsChangesTable {
  id: Generated<number>;
  game_id: number;
  /** 0 where only somebody was active. */
  mod_id: number;
  /** `''` where it is unknown. The game counts the change, too. */
  platform: string;
  date_added: number;
  downloads: number;
  subscribers: number;
  ratings_positive: number;
  ratings_negative: number;
  sessions: number;
  session_seconds: number;
  /** The active user, `''` for an anonymous client or nobody. */
  who: string;
  /** Digests of the address, `''` where it is unknown. */
  address_of_day: string;
  address_of_month: string;
}

/** A play session. */
export interface MetricsSessionsTable {
  id: Generated<number>;
  game_id: number;
  /** Chosen by the client. */
  session_id: string;
  /** 0 for reports with an API key. */
  user_id: number;
  order_id: number;
  date_started: number;
  date_last: number;
  /** 0 while it lasts. */
  date_ended: number;
  /** `''` where the client did not send it. */
  platform: string;
}

/** The counters of a game in a day or month. */
interface Counted {
  game_id: number;
  downloads: number;
  /** New subscriptions less ended ones. */
  subscribers: number;
  active_users: number;
  ratings_positive: number;
  ratings_negative: number;
  sessions: number;
  session_seconds: number;
}

export interface MetricsDaysTable extends Counted {
  /** Unix days. */
  day: number;
}

export interface MetricsMonthsTable extends Counted {
  /** Months since the year 0, in UTC. */
  month: number;
}
