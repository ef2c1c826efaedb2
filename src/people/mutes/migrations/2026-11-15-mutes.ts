import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-mutes',
  up: ({ integer }, dialect) => [
    `create table mutes (user_id ${integer} not null, muted_id ${integer} not null, date_added ${integer} not null,
      primary key (user_id, muted_id))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index mutes_by_muted on mutes (muted_id)',
  ],
};
