import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-previews',
  up: ({ id, integer, text }) => [
    `create table previewers (id ${id}, resource ${text} not null, resource_id ${integer} not null,
      user_id ${integer} not null, invited_by ${integer}, date_added ${integer} not null,
      unique (resource, resource_id, user_id))`,
    'create index previewers_by_user on previewers (user_id)',
    `create table preview_links (resource ${text} not null, resource_id ${integer} not null,
      version ${integer} not null, primary key (resource, resource_id))`,
  ],
};
