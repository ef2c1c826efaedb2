import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-cook-runners',
  up: ({ id, integer, text }) => [
    `create table cook_runners (id ${id}, game_id ${integer} not null, added_by ${integer} not null,
      date_added ${integer} not null, date_seen ${integer} not null, date_revoked ${integer} not null,
      name ${text} not null, platforms ${text} not null, digest ${text} not null unique)`,
    'create index cook_runners_by_game on cook_runners (game_id, date_revoked, id)',
  ],
};
