import type { Migration } from '../../../platform/database/migrate.ts';

export const marketplaceLocksTable: Migration = {
  name: '2026-11-16-marketplace-locks',
  up: ({ integer, text }) => [
    `create table marketplace_locks (
      user_id ${integer} not null primary key references users (id),
      reason ${text} not null,
      decided_by ${integer} not null, -- no key: 0 for the service
      date_added ${integer} not null
    )`,
    'create index marketplace_locks_by_decider on marketplace_locks (decided_by)',
  ],
};
