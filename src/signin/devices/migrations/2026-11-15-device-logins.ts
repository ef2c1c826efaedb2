import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-device-logins',
  up: ({ id, integer, text }) => [
    `create table device_logins (id ${id}, code_digest ${text} not null unique, device_digest ${text} not null unique,
      game_id ${integer} not null, client_id ${integer}, scopes ${text} not null, date_added ${integer} not null,
      date_expires ${integer} not null, date_next ${integer} not null, user_id ${integer}, date_decided ${integer},
      allowed ${integer} not null, date_redeemed ${integer})`,
    'create index device_logins_by_expiry on device_logins (date_expires)',
    'create index device_logins_by_user on device_logins (user_id)',
  ],
};
