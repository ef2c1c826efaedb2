import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-teams',
  up: ({ id, integer, text }) => [
    `create table team_members (id ${id}, resource ${text} not null, resource_id ${integer} not null, user_id ${integer} not null,
      level ${integer} not null, position ${text} not null, date_added ${integer} not null,
      unique (resource, resource_id, user_id))`,
    'create index team_members_by_user on team_members (user_id, resource)',
  ],
};
