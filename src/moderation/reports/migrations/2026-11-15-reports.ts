import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-reports',
  up: ({ id, integer, text }) => [
    `create table reports (id ${id}, resource ${text} not null, resource_id ${integer} not null,
      game_id ${integer} not null, author_id ${integer} not null, user_id ${integer} not null,
      type ${integer} not null, reason ${integer} not null, status ${integer} not null,
      date_added ${integer} not null, date_resolved ${integer} not null, resolved_by ${integer} not null,
      platforms ${text} not null, name ${text} not null, contact ${text} not null, summary ${text} not null,
      resolution ${text} not null)`,
    'create index reports_by_subject on reports (resource, resource_id, status)',
    'create index reports_by_game on reports (game_id, status, resource, resource_id)',
    // Of one person one report of a kind is open about a thing, also when they send it twice at once.
    `create unique index reports_open on reports (user_id, resource, resource_id, type)
      where status = 0 and user_id > 0`,
  ],
};
