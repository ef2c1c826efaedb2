import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-blocks',
  up: ({ integer }, dialect) => [
    `create table blocks (user_id ${integer} not null, blocked_id ${integer} not null, date_added ${integer} not null,
      primary key (user_id, blocked_id))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index blocks_by_blocked on blocks (blocked_id)',
  ],
};
