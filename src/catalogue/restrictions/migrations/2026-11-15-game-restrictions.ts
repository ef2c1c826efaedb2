import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-game-restrictions',
  up: ({ id, integer, text }) => [
    `create table game_restrictions (id ${id}, game_id ${integer} not null, user_id ${integer} not null,
      options ${integer} not null, reason ${text} not null, restricted_by ${integer} not null,
      date_added ${integer} not null, unique (game_id, user_id))`,
  ],
};
