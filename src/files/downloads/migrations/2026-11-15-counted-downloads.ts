import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-counted-downloads',
  up: ({ integer, text }, dialect) => [
    `create table counted_downloads (mod_id ${integer} not null, platform ${text} not null, address ${text} not null,
      date_counted ${integer} not null, primary key (mod_id, platform, address))${dialect === 'sqlite' ? ' without rowid' : ''}`,
    'create index counted_downloads_by_date on counted_downloads (date_counted)',
  ],
};
