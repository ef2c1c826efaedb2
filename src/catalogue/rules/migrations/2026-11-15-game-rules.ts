import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-game-rules',
  up: ({ id, integer, text }) => [
    `create table game_rules (id ${id}, game_id ${integer} not null, position ${integer} not null,
      enabled ${integer} not null, version ${integer} not null, date_added ${integer} not null,
      date_updated ${integer} not null)`,
    'create index game_rules_by_game on game_rules (game_id, position, id)',
    `create table game_rule_versions (id ${id}, rule_id ${integer} not null, game_id ${integer} not null,
      version ${integer} not null, name ${text} not null, operations ${text} not null, condition ${text} not null,
      verdict ${text} not null, message ${text} not null, edited_by ${integer} not null, date_added ${integer} not null,
      unique (rule_id, version))`,
    `create table rule_decisions (id ${id}, game_id ${integer} not null, user_id ${integer} not null,
      operation ${text} not null, verdict ${text} not null, rule_id ${integer} not null, rule_version ${integer} not null,
      reports ${text} not null, facts ${text} not null, digest ${text} not null, date_added ${integer} not null)`,
    'create index rule_decisions_by_game on rule_decisions (game_id, id)',
    'create index rule_decisions_by_user on rule_decisions (game_id, user_id, date_added)',
    'create index rule_decisions_by_date on rule_decisions (date_added)',
    `create table rule_holds (resource ${text} not null, resource_id ${integer} not null, game_id ${integer} not null,
      rule_id ${integer} not null, rule_version ${integer} not null, date_added ${integer} not null,
      primary key (resource, resource_id))`,
  ],
};
