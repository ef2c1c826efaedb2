import type { Migration, Schema } from './database/migrate.ts';

/**
 * Implements `leaseFrom`. A function, because the sum must be read after the lock is taken, and a single statement
 * would use a snapshot from before it; pruning comes last and skips locked rows, so it can neither wait nor deadlock.
 */
const LEASE_LIMIT = `
create function lease_limit(p_bucket text, p_slot bigint, p_limit bigint, p_want bigint, p_unspent bigint,
  p_unspent_slot bigint, out granted bigint, out frees_at bigint) language plpgsql as $$
declare total bigint;
begin
  perform pg_advisory_xact_lock(1297040467, hashtext(p_bucket));
  if p_unspent > 0 then
    update limit_slots set taken = greatest(0, taken - p_unspent) where bucket = p_bucket and slot = p_unspent_slot;
  end if;
  delete from limit_slots where bucket = p_bucket and (slot <= p_slot - 13 or slot >= p_slot + 13);
  select coalesce(sum(taken), 0) into total from limit_slots where bucket = p_bucket;
  granted := least(p_want, (greatest(p_limit - total, 0) + 1) / 2);
  frees_at := p_slot;
  if granted > 0 then
    insert into limit_slots values (p_bucket, p_slot, granted)
      on conflict (bucket, slot) do update set taken = limit_slots.taken + excluded.taken;
  else
    select coalesce(min(freed.slot), p_slot) + 13 into frees_at
      from (select slot, sum(taken) over (order by slot) as count from limit_slots where bucket = p_bucket) as freed
      where freed.count > total - p_limit;
  end if;
  delete from limit_slots where (bucket, slot) in
    (select bucket, slot from limit_slots where slot < p_slot - 24 order by slot limit 4 for update skip locked);
end $$`;

const access: Schema = ({ id, integer, text }) => [
  `create table api_keys (
    id ${id},
    digest ${text} not null unique,
    game_id ${integer}, -- no key: of a higher domain
    user_id ${integer}, -- no key: of a higher domain
    date_added ${integer} not null,
    date_revoked ${integer}
  )`,
  'create index api_keys_by_game on api_keys (game_id)',
  'create index api_keys_by_user on api_keys (user_id)',
  `create table access_tokens (
    id ${id},
    digest ${text} not null unique,
    user_id ${integer} not null, -- no key: of a higher domain
    game_id ${integer}, -- no key: of a higher domain
    scopes ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_revoked ${integer},
    client_id ${integer}, -- no key: of a higher domain
    grant_id ${integer}, -- no key: of a higher domain
    name ${text},
    epoch ${integer} not null default 0,
    client_epoch ${integer},
    all_games ${integer} not null default 0,
    content_only ${integer} not null default 0
  )`,
  'create index access_tokens_by_user on access_tokens (user_id)',
  'create index access_tokens_by_grant on access_tokens (grant_id)',
  'create index access_tokens_by_client on access_tokens (client_id)',
  `create table service_tokens (
    id ${id},
    digest ${text} not null unique,
    client_id ${integer} not null, -- no key: of a higher domain
    game_id ${integer} not null, -- no key: of a higher domain
    scopes ${text} not null,
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_revoked ${integer},
    client_epoch ${integer} not null default 0
  )`,
  'create index service_tokens_by_client on service_tokens (client_id)',
  `create table access_epochs (
    user_id ${integer} primary key, -- no key: of a higher domain
    epoch ${integer} not null
  )`,
];

const database: Schema = ({ integer, text, clustered }) => [
  `create table facts (
    name ${text} primary key,
    value ${text} not null
  )`,
  `create table made_once (
    key ${text} primary key,
    caller ${text} not null,
    location ${text} not null,
    date_added ${integer} not null
  )`,
  'create index made_once_by_caller on made_once (caller)',
  'create index made_once_by_date on made_once (date_added)',
  `create table word_variants (
    variant ${text} not null,
    word ${text} not null,
    primary key (variant, word)
  )${clustered}`,
];

const jobs: Schema = ({ id, integer, text }) => [
  `create table jobs (
    id ${id},
    kind ${text} not null,
    key ${text},
    payload ${text} not null,
    state ${text} not null,
    date_due ${integer} not null,
    attempt ${integer} not null,
    lease ${text},
    last_error ${text},
    date_added ${integer} not null
  )`,
  "create unique index jobs_waiting_once on jobs (kind, key) where state = 'waiting'",
  "create index jobs_running_by_key on jobs (kind, key) where state = 'running'",
  "create index jobs_by_due on jobs (date_due) where state <> 'parked'",
];

const limits: Schema = ({ integer, text }, dialect) => [
  // PostgreSQL only: SQLite counts in a separate file. The table is unlogged, so that a lease waits for no disk; a
  // crash of the database empties it, which resets all limits once.
  ...(dialect === 'postgres'
    ? [
        `create unlogged table limit_slots (
          bucket ${text} not null,
          slot ${integer} not null,
          taken ${integer} not null,
          primary key (bucket, slot)
        )`,
        'create index limit_slots_by_slot on limit_slots (slot)',
        LEASE_LIMIT,
      ]
    : []),
];

const localisation: Schema = ({ integer, text }) => [
  `create table translations (
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    field ${text} not null,
    language ${text} not null,
    text ${text} not null,
    primary key (resource, resource_id, field, language)
  )`,
];

/** The tables of the platform in version 0.2.0. */
export const platformSchema: Migration = {
  name: '2026-11-16-schema-platform',
  up: (...types) => [
    ...access(...types),
    ...database(...types),
    ...jobs(...types),
    ...limits(...types),
    ...localisation(...types),
  ],
};
