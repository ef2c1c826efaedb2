import type { Migration } from '../../../platform/database/migrate.ts';

export const metricsModDaysTable: Migration = {
  name: '2026-11-16-metrics-mod-days',
  up: ({ integer, text }) => [
    `create table metrics_mod_days (
      mod_id ${integer} not null, -- no key: of a higher domain
      platform ${text} not null,
      day ${integer} not null,
      downloads ${integer} not null,
      subscribers ${integer} not null,
      ratings_positive ${integer} not null,
      ratings_negative ${integer} not null,
      primary key (mod_id, platform, day)
    )`,
  ],
};
