import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-16-people-permission-reviews',
  up: ({ id, integer, text }) => [
    `create table reviewing_games (game_id ${integer} not null primary key, date_added ${integer} not null)`,
    `create table permission_reviews (id ${id}, game_id ${integer} not null, requested_by ${integer} not null,
      change ${text} not null, approved ${integer}, decided_by ${integer}, date_added ${integer} not null,
      date_expires ${integer} not null, date_used ${integer})`,
    'create index permission_reviews_by_game on permission_reviews (game_id, date_expires)',
    'create index permission_reviews_by_requester on permission_reviews (requested_by)',
    'create index permission_reviews_by_decider on permission_reviews (decided_by)',
  ],
};
