import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-users',
  up: ({ id, integer, text }) => [
    `create table users (id ${id}, status ${integer} not null, name_id ${text} not null unique, username ${text} not null,
      email ${text} unique, admin ${integer} not null, date_joined ${integer} not null, date_online ${integer} not null,
      avatar ${text}, timezone ${text} not null, language ${text} not null,
      country ${text} not null, privacy_options ${integer} not null, monetization_status ${integer} not null)`,
  ],
};
