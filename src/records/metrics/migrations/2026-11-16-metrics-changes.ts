import type { Migration } from '../../../platform/database/migrate.ts';

export const metricsChangesTable: Migration = {
  name: '2026-11-16-metrics-changes',
  up: ({ id, integer, text }) => [
    `create table metrics_changes (
      id ${id},
      game_id ${integer} not null, -- no key: of a higher domain
      mod_id ${integer} not null, -- no key: of a higher domain
      platform ${text} not null,
      date_added ${integer} not null,
      downloads ${integer} not null,
      subscribers ${integer} not null,
      ratings_positive ${integer} not null,
      ratings_negative ${integer} not null,
      sessions ${integer} not null,
      session_seconds ${integer} not null,
      who ${text} not null,
      address_of_day ${text} not null,
      address_of_month ${text} not null
    )`,
  ],
};
