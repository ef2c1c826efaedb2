import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    studio_events: StudioEventsTable;
    webhooks: WebhooksTable;
    webhook_deliveries: WebhookDeliveriesTable;
  }
}

/** All that a game's studio is told, in the order in which it was committed. */
export interface StudioEventsTable {
  id: Generated<number>;
  game_id: number;
  kind: string;
  /** What it happened to, such as `mods/7`; events of one subject are told in order. */
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
  /** The kinds that are told, with spaces between them; empty for all. */
  kinds: string;
  is_active: number;
  /** The secret follows from it and from the site's own secret, so that the database alone gives none away. */
  secret_seed: string;
  /** Signs as well until its end. */
  old_secret_seed: string | null;
  date_old_secret_ends: number;
  /** How often in a row the endpoint could not be reached, and when it is tried again. */
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
  /** Of all time; whoever writes an outcome holds the attempt of this number. */
  attempts: number;
  /** Since it last began to wait. */
  tries: number;
  /** When it may be tried; while it is being tried, when it may be tried again if nothing is heard of it. */
  date_due: number;
  date_gives_up: number;
  date_added: number;
  date_tried: number;
  status: number | null;
  error: string | null;
  duration_ms: number;
}
