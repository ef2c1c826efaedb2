import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-subscriptions',
  up: ({ integer }, dialect) => [
    `create table subscriptions (user_id ${integer} not null, mod_id ${integer} not null, date_added ${integer} not null,
      primary key (user_id, mod_id))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index subscriptions_by_mod on subscriptions (mod_id, user_id, date_added)',
  ],
};
