import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-game-wordlists',
  up: ({ integer, text }) => [
    `create table game_wordlists (game_id ${integer} not null primary key, allowed ${text} not null,
      denied ${text} not null, date_updated ${integer} not null)`,
  ],
};
