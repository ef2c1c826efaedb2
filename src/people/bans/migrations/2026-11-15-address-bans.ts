import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-address-bans',
  up: ({ id, integer, text }) => [
    `create table address_bans (id ${id}, network ${text} not null unique, reason ${text} not null,
      user_id ${integer} not null, date_added ${integer} not null, date_expires ${integer} not null)`,
  ],
};
