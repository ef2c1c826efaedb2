import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    metrics_secrets: { game_id: number; sealed: string; date_added: number };
    metrics_sessions: MetricsSessionsTable;
    metrics_seen: { game_id: number; session_hash: string; date_added: number };
    metrics_active: { game_id: number; day: number; who: string };
    metrics_days: MetricsDaysTable;
    metrics_mod_months: { game_id: number; month: number; mod_id: number; downloads: number; subscribers: number };
    metrics_creator_months: { game_id: number; month: number; user_id: number; downloads: number; subscribers: number };
  }
}

/** A game that someone plays. */
export interface MetricsSessionsTable {
  id: Generated<number>;
  game_id: number;
  /** As the client names it. */
  session_id: string;
  /** 0 where a key of the game speaks. */
  user_id: number;
  order_id: number;
  date_started: number;
  date_last: number;
  /** 0 while it goes on. */
  date_ended: number;
}

/** What happened in a game on one day. */
export interface MetricsDaysTable {
  game_id: number;
  /** Unix days. */
  day: number;
  downloads: number;
  /** Those who came less those who went. */
  subscribers: number;
  active_users: number;
  ratings_positive: number;
  ratings_negative: number;
  sessions: number;
  session_seconds: number;
}
