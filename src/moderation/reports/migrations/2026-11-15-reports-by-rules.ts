import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-reports-by-rules',
  up: ({ integer }) => [
    `alter table reports add column rule_id ${integer} not null default 0`,
    // Of one rule one report is open about a thing, however often it is handed in.
    `create unique index reports_open_by_rule on reports (rule_id, resource, resource_id)
      where status = 0 and rule_id > 0`,
    'create index reports_by_author on reports (author_id, game_id)',
  ],
};
