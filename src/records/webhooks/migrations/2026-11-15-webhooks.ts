import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-webhooks',
  up: ({ id, integer, text }) => [
    `create table studio_events (id ${id}, game_id ${integer} not null, kind ${text} not null,
      subject ${text} not null, data ${text} not null, date_added ${integer} not null)`,
    'create index studio_events_by_game on studio_events (game_id, id)',
    'create index studio_events_by_date on studio_events (date_added)',
    `create table webhooks (id ${id}, game_id ${integer} not null, name ${text} not null, url ${text} not null,
      kinds ${text} not null, is_active ${integer} not null, secret_seed ${text} not null, old_secret_seed ${text},
      date_old_secret_ends ${integer} not null, failures ${integer} not null, date_resumes ${integer} not null,
      added_by ${integer} not null, date_added ${integer} not null, date_updated ${integer} not null)`,
    'create index webhooks_by_game on webhooks (game_id, id)',
    `create table webhook_deliveries (id ${id}, webhook_id ${integer} not null, event_id ${integer} not null,
      subject ${text} not null, state ${text} not null, attempts ${integer} not null, tries ${integer} not null,
      date_due ${integer} not null, date_gives_up ${integer} not null, date_added ${integer} not null,
      date_tried ${integer} not null, status ${integer}, error ${text}, duration_ms ${integer} not null)`,
    'create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id)',
    'create index webhook_deliveries_by_event on webhook_deliveries (event_id)',
    // Of each subject the first that waits is the one that may be sent.
    `create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, subject, id) where state = 'waiting'`,
  ],
};
