import type { Migration, Schema } from '../platform/database/migrate.ts';

const audit: Schema = ({ integer, text }) => [
  `create table audit_log (
    id ${integer} primary key,
    date_added ${integer} not null,
    game_id ${integer} not null, -- no key, stays: the log says what happened, also to what is gone
    user_id ${integer} not null, -- no key, stays: the log says what happened, also to what is gone
    action ${text} not null,
    resource ${text} not null,
    resource_id ${integer} not null, -- no key, stays: the log says what happened, also to what is gone
    reason ${text} not null,
    data ${text} not null,
    previous ${text} not null,
    hash ${text} not null
  )`,
  'create index audit_log_by_game on audit_log (game_id, id)',
  'create index audit_log_by_resource on audit_log (resource, resource_id, id)',
  `create table audit_head (
    id ${integer} primary key,
    last_id ${integer} not null,
    hash ${text} not null
  )`,
  "insert into audit_head (id, last_id, hash) values (1, 0, '')",
];

const events: Schema = ({ id, integer, text }) => [
  `create table mod_events (
    id ${id},
    game_id ${integer} not null, -- no key: of a higher domain
    -- no key, stays: events outlive the mod by 90 days, so that clients that were offline learn of its deletion
    mod_id ${integer} not null,
    user_id ${integer} not null, -- no key: of a higher domain
    event_type ${text} not null,
    date_added ${integer} not null,
    shown ${integer} not null,
    newest ${integer} not null,
    newest_shown ${integer} not null
  )`,
  // Indexes for pages of a game's lists: equality in the first two columns, order by the third.
  'create index mod_events_by_shown on mod_events (game_id, shown, id)',
  'create index mod_events_by_newest on mod_events (game_id, newest, id)',
  'create index mod_events_by_newest_shown on mod_events (game_id, newest_shown, id)',
  'create index mod_events_by_mod on mod_events (mod_id, event_type, id)',
  'create index mod_events_by_date on mod_events (date_added)',
  `create table user_events (
    id ${id},
    game_id ${integer} not null, -- no key: of a higher domain
    -- no key, stays: events outlive the mod by 90 days, so that clients that were offline learn of its deletion
    mod_id ${integer} not null,
    user_id ${integer} not null, -- no key: of a higher domain
    event_type ${text} not null,
    date_added ${integer} not null
  )`,
  'create index user_events_by_user on user_events (user_id, id)',
  'create index user_events_by_date on user_events (date_added)',
];

const metrics: Schema = ({ id, integer, text }) => [
  `create table metrics_secrets (
    game_id ${integer} primary key, -- no key: of a higher domain
    sealed ${text} not null,
    date_added ${integer} not null
  )`,
  `create table metrics_sessions (
    id ${id},
    game_id ${integer} not null, -- no key: of a higher domain
    session_id ${text} not null,
    user_id ${integer} not null, -- no key: of a higher domain
    order_id ${integer} not null,
    date_started ${integer} not null,
    date_last ${integer} not null,
    date_ended ${integer} not null,
    platform ${text} not null default ''
  )`,
  'create unique index metrics_sessions_by_name on metrics_sessions (game_id, session_id)',
  'create index metrics_sessions_by_date on metrics_sessions (date_last)',
  `create table metrics_seen (
    game_id ${integer} not null, -- no key: of a higher domain
    session_hash ${text} not null,
    date_added ${integer} not null,
    primary key (game_id, session_hash)
  )`,
  'create index metrics_seen_by_date on metrics_seen (date_added)',
  `create table metrics_active (
    game_id ${integer} not null, -- no key: of a higher domain
    day ${integer} not null,
    who ${text} not null,
    counted ${integer} not null default 1,
    primary key (game_id, day, who)
  )`,
  'create index metrics_active_by_day on metrics_active (day)',
  `create table metrics_active_months (
    game_id ${integer} not null, -- no key: of a higher domain
    month ${integer} not null,
    who ${text} not null,
    counted ${integer} not null,
    primary key (game_id, month, who)
  )`,
  'create index metrics_active_months_by_month on metrics_active_months (month)',
  `create table metrics_days (
    game_id ${integer} not null, -- no key: of a higher domain
    day ${integer} not null,
    downloads ${integer} not null,
    subscribers ${integer} not null,
    active_users ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    sessions ${integer} not null,
    session_seconds ${integer} not null,
    primary key (game_id, day)
  )`,
  `create table metrics_months (
    game_id ${integer} not null, -- no key: of a higher domain
    month ${integer} not null,
    downloads ${integer} not null,
    subscribers ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    sessions ${integer} not null,
    session_seconds ${integer} not null,
    active_users ${integer} not null,
    primary key (game_id, month)
  )`,
  `create table metrics_mod_months (
    game_id ${integer} not null, -- no key: of a higher domain
    month ${integer} not null,
    mod_id ${integer} not null, -- no key: of a higher domain
    downloads ${integer} not null,
    subscribers ${integer} not null,
    primary key (game_id, month, mod_id)
  )`,
  // In the order of rankings.
  'create index metrics_mod_months_ranked on metrics_mod_months (game_id, month, downloads desc, mod_id)',
  `create table metrics_creator_months (
    game_id ${integer} not null, -- no key: of a higher domain
    month ${integer} not null,
    user_id ${integer} not null, -- no key: of a higher domain
    downloads ${integer} not null,
    subscribers ${integer} not null,
    primary key (game_id, month, user_id)
  )`,
  // In the order of rankings.
  'create index metrics_creator_months_ranked on metrics_creator_months (game_id, month, downloads desc, user_id)',
];

const metricsPerPlatform: Schema = ({ integer, text }) => [
  `create table metrics_platform_active (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    day ${integer} not null,
    who ${text} not null,
    counted ${integer} not null,
    primary key (game_id, platform, day, who)
  )`,
  'create index metrics_platform_active_by_day on metrics_platform_active (day)',
  `create table metrics_platform_active_months (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    month ${integer} not null,
    who ${text} not null,
    counted ${integer} not null,
    primary key (game_id, platform, month, who)
  )`,
  'create index metrics_platform_active_months_by_month on metrics_platform_active_months (month)',
  `create table metrics_platform_days (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    day ${integer} not null,
    downloads ${integer} not null,
    subscribers ${integer} not null,
    active_users ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    sessions ${integer} not null,
    session_seconds ${integer} not null,
    primary key (game_id, platform, day)
  )`,
  `create table metrics_platform_months (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    month ${integer} not null,
    downloads ${integer} not null,
    subscribers ${integer} not null,
    active_users ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    sessions ${integer} not null,
    session_seconds ${integer} not null,
    primary key (game_id, platform, month)
  )`,
  `create table metrics_platform_mod_months (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    month ${integer} not null,
    mod_id ${integer} not null, -- no key: of a higher domain
    downloads ${integer} not null,
    subscribers ${integer} not null,
    primary key (game_id, platform, month, mod_id)
  )`,
  `create index metrics_platform_mod_months_ranked on metrics_platform_mod_months (game_id, platform, month,
    downloads desc, mod_id)`,
  'create index metrics_platform_mod_months_by_mod_id on metrics_platform_mod_months (mod_id, platform)',
  `create table metrics_platform_creator_months (
    game_id ${integer} not null, -- no key: of a higher domain
    platform ${text} not null,
    month ${integer} not null,
    user_id ${integer} not null, -- no key: of a higher domain
    downloads ${integer} not null,
    subscribers ${integer} not null,
    primary key (game_id, platform, month, user_id)
  )`,
  `create index metrics_platform_creator_months_ranked on metrics_platform_creator_months (game_id, platform,
    month, downloads desc, user_id)`,
  'create index metrics_platform_creator_months_by_user_id on metrics_platform_creator_months (user_id, platform)',
];

const webhooks: Schema = ({ id, integer, text }) => [
  `create table studio_events (
    id ${id},
    game_id ${integer} not null, -- no key: of a higher domain
    kind ${text} not null,
    subject ${text} not null,
    data ${text} not null,
    date_added ${integer} not null
  )`,
  'create index studio_events_by_game on studio_events (game_id, id)',
  'create index studio_events_by_date on studio_events (date_added)',
  `create table webhooks (
    id ${id},
    game_id ${integer} not null, -- no key: of a higher domain
    name ${text} not null,
    url ${text} not null,
    kinds ${text} not null,
    is_active ${integer} not null,
    secret_seed ${text} not null,
    old_secret_seed ${text},
    date_old_secret_ends ${integer} not null,
    failures ${integer} not null,
    date_resumes ${integer} not null,
    added_by ${integer} not null, -- no key: of a higher domain
    date_added ${integer} not null,
    date_updated ${integer} not null
  )`,
  'create index webhooks_by_game on webhooks (game_id, id)',
  `create table webhook_deliveries (
    id ${id},
    webhook_id ${integer} not null references webhooks (id) on delete cascade,
    event_id ${integer} not null references studio_events (id) on delete cascade,
    subject ${text} not null,
    state ${text} not null,
    attempts ${integer} not null,
    tries ${integer} not null,
    date_due ${integer} not null,
    date_gives_up ${integer} not null,
    date_added ${integer} not null,
    date_tried ${integer} not null,
    status ${integer},
    error ${text},
    duration_ms ${integer} not null
  )`,
  'create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id)',
  'create index webhook_deliveries_by_event on webhook_deliveries (event_id)',
  // Only the first waiting delivery of each subject may be sent.
  "create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, subject, id) where state = 'waiting'",
];

/** The tables of records in version 0.2.0. */
export const recordsSchema: Migration = {
  name: '2026-11-16-schema-records',
  up: (...types) => [
    ...audit(...types),
    ...events(...types),
    ...metrics(...types),
    ...metricsPerPlatform(...types),
    ...webhooks(...types),
  ],
};
