import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-comments-withheld',
  up: ({ integer }) => [
    `alter table comments add column withheld ${integer} not null default 0`,
    // Few are, so that most lists are told at once that nothing in them is.
    'create index comments_withheld on comments (resource, resource_id) where withheld > 0',
    'create index comments_waiting on comments (id) where withheld = 1',
    'create index comments_taken on comments (id) where withheld = 3',
  ],
};
