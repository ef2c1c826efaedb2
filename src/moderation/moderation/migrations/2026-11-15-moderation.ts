import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-moderation',
  up: ({ id, integer, text }) => [
    `create table moderation_decisions (id ${id}, game_id ${integer} not null, resource ${text} not null,
      resource_id ${integer} not null, action ${text} not null, reason ${text} not null, user_id ${integer} not null,
      date_added ${integer} not null, appeal ${text} not null, date_appealed ${integer} not null)`,
    'create index moderation_decisions_by_subject on moderation_decisions (resource, resource_id, id)',
  ],
};
