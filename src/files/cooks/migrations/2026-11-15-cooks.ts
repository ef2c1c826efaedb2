import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-cooks',
  up: ({ id, integer, text }) => [
    `create table cooks (id ${id}, game_id ${integer} not null, mod_id ${integer} not null, source_id ${integer} not null,
      result_id ${integer} not null, status ${integer} not null, active ${integer} not null, attempts ${integer} not null,
      progress ${integer} not null, runner_id ${integer}, date_lease ${integer} not null, started_by ${integer} not null,
      date_added ${integer} not null, date_updated ${integer} not null, cook_uuid ${text} not null unique,
      platform ${text} not null, claim ${text}, error ${text} not null, metadata ${text} not null)`,
    'create index cooks_by_game on cooks (game_id, id)',
    'create index cooks_open on cooks (game_id, status, id) where status < 2',
    'create index cooks_by_mod on cooks (mod_id, id)',
    'create index cooks_by_source on cooks (source_id, platform)',
    'create unique index cooks_by_claim on cooks (claim)',
    `create table cook_logs (id ${id}, cook_id ${integer} not null, line ${text} not null)`,
    'create index cook_logs_by_cook on cook_logs (cook_id, id)',
  ],
};
