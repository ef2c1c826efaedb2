import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-audit',
  up: ({ integer, text }) => [
    `create table audit_log (id ${integer} primary key, date_added ${integer} not null, game_id ${integer} not null,
      user_id ${integer} not null, action ${text} not null, resource ${text} not null, resource_id ${integer} not null,
      reason ${text} not null, data ${text} not null, previous ${text} not null, hash ${text} not null)`,
    'create index audit_log_by_game on audit_log (game_id, id)',
    'create index audit_log_by_resource on audit_log (resource, resource_id, id)',
    `create table audit_head (id ${integer} primary key, last_id ${integer} not null, hash ${text} not null)`,
    "insert into audit_head (id, last_id, hash) values (1, 0, '')",
  ],
};
