import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-ratings',
  up: ({ id, integer, text }) => [
    `create table ratings (id ${id}, user_id ${integer} not null, game_id ${integer} not null, resource ${text} not null,
      resource_id ${integer} not null, rating ${integer} not null, date_added ${integer} not null,
      unique (user_id, resource, resource_id))`,
    'create index ratings_by_resource on ratings (resource, resource_id)',
  ],
};
