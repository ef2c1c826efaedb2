import type { Migration } from '../../../platform/database/migrate.ts';

/** Counts the comments that a collection shows: neither deleted nor withheld, nor below one that is. */
export const migration: Migration = {
  name: '2026-11-16-collections-comments-clients',
  up: ({ integer }) => [
    `alter table collections add column comments_total ${integer} not null default 0`,
    `update collections set comments_total = (select count(*) from comments c
      where c.resource = 'collections' and c.resource_id = collections.id and c.date_deleted = 0 and c.withheld = 0
        and not exists (select 1 from comments a where a.withheld > 0 and a.resource = c.resource
          and a.resource_id = c.resource_id and c.thread_order like a.thread_order || '.%'))`,
  ],
};
