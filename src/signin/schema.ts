import type { Migration, Schema } from '../platform/database/migrate.ts';

const accounts: Schema = ({ id, integer, text }) => [
  `create table email_codes (
    id ${id},
    digest ${text} not null,
    email ${text} not null,
    key_id ${integer} not null, -- no key: 0 for the website and -1 for a merge
    ip ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_redeemed ${integer},
    attempts ${integer} not null,
    handle_digest ${text},
    lane ${text} not null default '',
    is_short ${integer} not null default 1,
    handle_attempts ${integer} not null default 0,
    remote_attempts ${integer} not null default 0
  )`,
  'create index email_codes_by_digest on email_codes (digest)',
  'create index email_codes_by_email on email_codes (email)',
  'create index email_codes_by_asker on email_codes (key_id, ip)',
  'create index email_codes_by_handle on email_codes (handle_digest)',
  'create index email_codes_by_place on email_codes (ip, date_expires)',
  `create table code_counters (
    bucket ${text} not null primary key,
    used ${integer} not null,
    date_ends ${integer} not null
  )`,
  'create index code_counters_by_end on code_counters (date_ends)',
  `create table email_changes (
    user_id ${integer} not null primary key references users (id),
    email ${text} not null,
    old_digest ${text},
    new_digest ${text} not null,
    attempts ${integer} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null
  )`,
  `create table known_places (
    user_id ${integer} not null references users (id),
    digest ${text} not null,
    date_seen ${integer} not null,
    primary key (user_id, digest)
  )`,
];

const sessions: Schema = ({ id, integer, text }) => [
  `create table sessions (
    id ${id},
    digest ${text} not null unique,
    user_id ${integer} not null references users (id),
    user_agent ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_revoked ${integer}
  )`,
  'create index sessions_by_user on sessions (user_id)',
];

const oauth: Schema = ({ id, integer, text }) => [
  `create table oauth_clients (
    id ${id},
    game_id ${integer} not null references games (id),
    name ${text} not null,
    secret_digest ${text} not null,
    redirect_uris ${text} not null,
    grants ${text} not null,
    date_added ${integer} not null,
    date_revoked ${integer},
    requires_pkce ${integer} not null default 0,
    epoch ${integer} not null default 0,
    standard ${integer} not null default 0
  )`,
  'create index oauth_clients_by_game on oauth_clients (game_id)',
  `create table oauth_grants (
    id ${id},
    client_id ${integer} not null references oauth_clients (id),
    user_id ${integer} not null references users (id),
    scopes ${text} not null,
    redirect_uri ${text} not null,
    date_added ${integer} not null,
    date_revoked ${integer},
    epoch ${integer} not null default 0,
    all_games ${integer} not null default 0
  )`,
  'create index oauth_grants_by_user on oauth_grants (user_id)',
  'create index oauth_grants_by_client on oauth_grants (client_id)',
  `create table oauth_codes (
    id ${id},
    digest ${text} not null unique,
    client_id ${integer} not null references oauth_clients (id),
    user_id ${integer} not null references users (id),
    scopes ${text} not null,
    redirect_uri ${text} not null,
    challenge ${text},
    date_expires ${integer} not null,
    date_redeemed ${integer},
    grant_id ${integer} references oauth_grants (id) on delete cascade,
    epoch ${integer} not null default 0,
    all_games ${integer} not null default 0
  )`,
  'create index oauth_codes_by_user on oauth_codes (user_id)',
  'create index oauth_codes_by_grant on oauth_codes (grant_id)',
  `create table oauth_refresh_tokens (
    id ${id},
    digest ${text} not null unique,
    grant_id ${integer} not null references oauth_grants (id) on delete cascade,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_rotated ${integer}
  )`,
  'create index oauth_refresh_tokens_by_grant on oauth_refresh_tokens (grant_id)',
];

const devices: Schema = ({ id, integer, text }) => [
  `create table device_logins (
    id ${id},
    code_digest ${text} not null unique,
    device_digest ${text} not null unique,
    game_id ${integer} not null references games (id),
    client_id ${integer} references oauth_clients (id),
    scopes ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_next ${integer} not null,
    user_id ${integer} references users (id),
    date_decided ${integer},
    allowed ${integer} not null,
    date_redeemed ${integer}
  )`,
  'create index device_logins_by_expiry on device_logins (date_expires)',
  'create index device_logins_by_user on device_logins (user_id)',
];

const portals: Schema = ({ id, integer, text }) => [
  `create table portal_accounts (
    id ${id},
    user_id ${integer} not null references users (id),
    portal ${text} not null,
    portal_id ${text} not null,
    game_id ${integer} not null, -- no key: 0 where the portal knows a person by one id in all games
    display_name ${text} not null,
    avatar ${text} not null,
    date_added ${integer} not null,
    date_used ${integer} not null,
    monetization_account ${integer} not null default 0,
    unique (portal, portal_id, game_id),
    unique (user_id, portal, game_id)
  )`,
  `create table portal_settings (
    game_id ${integer} not null references games (id),
    portal ${text} not null,
    fields ${text} not null,
    secrets ${text} not null,
    date_updated ${integer} not null,
    primary key (game_id, portal)
  )`,
  `create table portal_tickets (
    digest ${text} primary key,
    ip ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null
  )`,
  'create index portal_tickets_by_expiry on portal_tickets (date_expires)',
  `create table portal_journeys (
    digest ${text} primary key,
    visit ${text} not null,
    sealed ${text} not null,
    date_expires ${integer} not null
  )`,
  'create index portal_journeys_by_expiry on portal_journeys (date_expires)',
  `create table email_confirmations (
    user_id ${integer} primary key references users (id),
    email ${text} not null,
    digest ${text} not null,
    attempts ${integer} not null,
    date_expires ${integer} not null
  )`,
];

const exports: Schema = ({ id, integer, text }) => [
  `create table data_exports (
    id ${id},
    user_id ${integer} not null references users (id),
    date_added ${integer} not null,
    date_expires ${integer} not null,
    storage_key ${text},
    bytes ${integer} not null,
    sha256 ${text} not null
  )`,
  'create index data_exports_by_user on data_exports (user_id)',
];

/** The sign-in tables of version 0.2.0. */
export const signinSchema: Migration = {
  name: '2026-11-16-schema-signin',
  up: (...types) => [
    ...accounts(...types),
    ...sessions(...types),
    ...oauth(...types),
    ...devices(...types),
    ...portals(...types),
    ...exports(...types),
  ],
};
