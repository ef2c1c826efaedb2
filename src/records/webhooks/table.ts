import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    studio_event_queue: StudioEventsTable;
    studio_events: StudioEventsTable;
    webhooks: WebhooksTable;
    webhook_deliveries: WebhookDeliveriesTable;
  }
}

/** The events of a game for its studio, in the order of their commits. */
export interface StudioEventsTable {
  id: Generated<number>;
  game_id: number;
  kind: string;
  /** The subject, such as `mods/7`. Events of one subject are delivered in order. */
  subject: string;
  /** JSON. */
  data: string;
  date_added: number;
}

export interface WebhooksTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  url: string;
  /** The subscribed kinds, separated by spaces; empty for all. */
  kinds: string;
  is_active: number;
  /** The secret is derived from it and the site's own secret, so that the database alone does not reveal it. */
  secret_seed: string;
  /** Also signs until `date_old_secret_ends`. */
  old_secret_seed: string | null;
  date_old_secret_ends: number;
  /** Consecutive failures to reach the endpoint, and when it is tried again. */
  failures: number;
  date_resumes: number;
  added_by: number;
  date_added: number;
  date_updated: number;
}

export interface WebhookDeliveriesTable {
  id: Generated<number>;
  webhook_id: number;
  event_id: number;
  subject: string;
  state: 'waiting' | 'delivered' | 'parked';
  /** All attempts so far; an outcome is written only by the attempt with this number. */
  attempts: number;
  /** Attempts since it was last queued. */
  tries: number;
  /** When it is due; during an attempt, when the lease of that attempt ends. */
  date_due: number;
  date_gives_up: number;
  date_added: number;
  date_tried: number;
  status: number | null;
  error: string | null;
  duration_ms: number;
}
