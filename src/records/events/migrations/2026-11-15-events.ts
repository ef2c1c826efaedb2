import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-events',
  up: ({ id, integer, text }) => [
    `create table mod_events (id ${id}, game_id ${integer} not null, mod_id ${integer} not null,
      user_id ${integer} not null, event_type ${text} not null, date_added ${integer} not null,
      shown ${integer} not null, newest ${integer} not null, newest_shown ${integer} not null)`,
    // Lists of a game are cut from these: equal in the first two, in order by the third.
    'create index mod_events_by_shown on mod_events (game_id, shown, id)',
    'create index mod_events_by_newest on mod_events (game_id, newest, id)',
    'create index mod_events_by_newest_shown on mod_events (game_id, newest_shown, id)',
    'create index mod_events_by_mod on mod_events (mod_id, event_type, id)',
    'create index mod_events_by_date on mod_events (date_added)',
    `create table user_events (id ${id}, game_id ${integer} not null, mod_id ${integer} not null,
      user_id ${integer} not null, event_type ${text} not null, date_added ${integer} not null)`,
    'create index user_events_by_user on user_events (user_id, id)',
    'create index user_events_by_date on user_events (date_added)',
  ],
};
