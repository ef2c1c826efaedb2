import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-sessions',
  up: ({ id, integer, text }) => [
    `create table sessions (id ${id}, digest ${text} not null unique, user_id ${integer} not null, user_agent ${text} not null,
      date_added ${integer} not null, date_expires ${integer} not null, date_revoked ${integer})`,
    'create index sessions_by_user on sessions (user_id)',
  ],
};
