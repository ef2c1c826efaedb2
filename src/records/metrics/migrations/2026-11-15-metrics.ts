import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-metrics',
  up: ({ id, integer, text }) => [
    `create table metrics_secrets (game_id ${integer} primary key, sealed ${text} not null, date_added ${integer} not null)`,
    `create table metrics_sessions (id ${id}, game_id ${integer} not null, session_id ${text} not null,
      user_id ${integer} not null, order_id ${integer} not null, date_started ${integer} not null,
      date_last ${integer} not null, date_ended ${integer} not null)`,
    'create unique index metrics_sessions_by_name on metrics_sessions (game_id, session_id)',
    'create index metrics_sessions_by_date on metrics_sessions (date_last)',
    `create table metrics_seen (game_id ${integer} not null, session_hash ${text} not null, date_added ${integer} not null,
      primary key (game_id, session_hash))`,
    'create index metrics_seen_by_date on metrics_seen (date_added)',
    `create table metrics_active (game_id ${integer} not null, day ${integer} not null, who ${text} not null,
      primary key (game_id, day, who))`,
    'create index metrics_active_by_day on metrics_active (day)',
    `create table metrics_days (game_id ${integer} not null, day ${integer} not null, downloads ${integer} not null,
      subscribers ${integer} not null, active_users ${integer} not null, ratings_positive ${integer} not null,
      ratings_negative ${integer} not null, sessions ${integer} not null, session_seconds ${integer} not null,
      primary key (game_id, day))`,
    ...[
      ['mod', 'mod_id'],
      ['creator', 'user_id'],
    ].flatMap(([noun, column]) => [
      `create table metrics_${noun}_months (game_id ${integer} not null, month ${integer} not null,
        ${column} ${integer} not null, downloads ${integer} not null, subscribers ${integer} not null,
        primary key (game_id, month, ${column}))`,
      `create index metrics_${noun}_months_by_rank on metrics_${noun}_months (game_id, month, downloads, subscribers, ${column})`,
    ]),
  ],
};
