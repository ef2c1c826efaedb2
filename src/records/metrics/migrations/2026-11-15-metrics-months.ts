import type { Migration } from '../../../platform/database/migrate.ts';

const COUNTS = ['downloads', 'subscribers', 'ratings_positive', 'ratings_negative', 'sessions', 'session_seconds'];

/** Months since the year 0 of a Unix day. */
const MONTH = {
  sqlite:
    "cast(strftime('%Y', day * 86400, 'unixepoch') as integer) * 12 + cast(strftime('%m', day * 86400, 'unixepoch') as integer) - 1",
  postgres:
    "cast(extract(year from date '1970-01-01' + cast(day as integer)) * 12 + extract(month from date '1970-01-01' + cast(day as integer)) - 1 as bigint)",
} as const;

export const migration: Migration = {
  name: '2026-11-15-metrics-months',
  up: ({ integer, text }, dialect) => [
    `create table metrics_months (game_id ${integer} not null, month ${integer} not null,
      ${COUNTS.map((name) => `${name} ${integer} not null`).join(', ')}, active_users ${integer} not null,
      primary key (game_id, month))`,
    // Who was active on several days cannot be told any more: it were at least as many as on the busiest one.
    `insert into metrics_months (game_id, month, ${COUNTS.join(', ')}, active_users)
      select game_id, ${MONTH[dialect]}, ${COUNTS.map((name) => `sum(${name})`).join(', ')}, max(active_users)
      from metrics_days group by 1, 2`,
    `alter table metrics_active add column counted ${integer} not null default 1`,
    `create table metrics_active_months (game_id ${integer} not null, month ${integer} not null, who ${text} not null,
      counted ${integer} not null, primary key (game_id, month, who))`,
    'create index metrics_active_months_by_month on metrics_active_months (month)',
    // In the order in which rankings are read: the indexes before had the ids the wrong way round.
    ...[
      ['mod', 'mod_id'],
      ['creator', 'user_id'],
    ].flatMap(([noun, column]) => [
      `drop index metrics_${noun}_months_by_rank`,
      `create index metrics_${noun}_months_ranked on metrics_${noun}_months (game_id, month, downloads desc, ${column})`,
    ]),
  ],
};
