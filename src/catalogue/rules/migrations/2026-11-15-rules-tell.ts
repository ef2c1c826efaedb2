import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-rules-tell',
  up: ({ integer, text }) => [
    `alter table rule_decisions add column webhooks ${text} not null default '[]'`,
    `alter table rule_decisions add column awaits_studio ${integer} not null default 0`,
    `alter table rule_decisions add column resource ${text} not null default ''`,
    `alter table rule_decisions add column resource_id ${integer} not null default 0`,
    'create index rule_decisions_untold on rule_decisions (game_id, id) where awaits_studio = 1',
  ],
};
