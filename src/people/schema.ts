import type { Migration, Schema } from '../platform/database/migrate.ts';

const SHOWN = ['name_id', 'username', 'avatar', 'timezone', 'language', 'date_joined', 'date_online'];
/** Names in addresses, time zones and languages contain nothing that JSON escapes. */
const cardOf = (row: string) => `${row}.id, ${row}.name_id, ${row}.avatar,
  concat('{"id":', ${row}.id, ',"name_id":"', ${row}.name_id, '","username":', json_quote(${row}.username),
    ',"display_name_portal":null,"date_online":', ${row}.date_online, ',"date_joined":', ${row}.date_joined, ',"avatar":'),
  concat(',"timezone":"', ${row}.timezone, '","language":"', ${row}.language, '","profile_url":"')`;

/**
 * A user as JSON before and after the avatar, for mods that name them. Triggers write it, so that no change of a user
 * can forget it; PostgreSQL assembles the same while reading.
 */
const USER_CARDS = [
  `create table user_cards (
    id integer primary key,
    name_id text not null,
    avatar text,
    before_avatar text not null,
    behind_avatar text not null
  )`,
  `create trigger user_cards_added after insert on users begin
    insert into user_cards select ${cardOf('new')}; end`,
  `create trigger user_cards_changed after update of ${SHOWN.join(', ')} on users begin
    replace into user_cards select ${cardOf('new')}; end`,
  'create trigger user_cards_removed after delete on users begin delete from user_cards where id = old.id; end',
];

const users: Schema = ({ id, integer, text }, dialect) => [
  `create table users (
    id ${id},
    status ${integer} not null,
    name_id ${text} not null unique,
    username ${text} not null,
    email ${text} unique,
    admin ${integer} not null,
    date_joined ${integer} not null,
    date_online ${integer} not null,
    avatar ${text},
    timezone ${text} not null,
    language ${text} not null,
    country ${text} not null,
    privacy_options ${integer} not null,
    monetization_status ${integer} not null,
    username_folded ${text} not null default '',
    birth_date ${text},
    mature_content ${integer} not null default 0,
    date_closed ${integer},
    date_locked ${integer},
    merged_into ${integer} references users (id),
    date_merged ${integer},
    portal_names ${text} not null default '{}',
    username_skeleton ${text} not null default ''
  )`,
  'create index users_by_username on users (username_folded)',
  'create index users_by_merge on users (merged_into)',
  'create index users_by_skeleton on users (username_skeleton, id)',
  `create table remembered_bans (
    digest ${text} primary key,
    user_id ${integer} not null references users (id),
    date_added ${integer} not null
  )`,
  ...(dialect === 'sqlite' ? USER_CARDS : []),
];

const agreements: Schema = ({ id, integer, text }) => [
  `create table agreement_versions (
    id ${id},
    type ${integer} not null,
    name ${text} not null,
    changelog ${text} not null,
    description ${text} not null,
    user_id ${integer} references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_live ${integer} not null,
    is_active ${integer} not null,
    date_deleted ${integer}
  )`,
  'create index agreement_versions_by_type on agreement_versions (type, id)',
  'create unique index agreement_versions_in_force on agreement_versions (type) where is_active = 1',
  `create table agreement_acceptances (
    id ${id},
    user_id ${integer} not null references users (id),
    version_id ${integer} not null references agreement_versions (id),
    game_id ${integer} not null, -- no key: 0 for the whole site
    date_added ${integer} not null,
    unique (user_id, version_id, game_id)
  )`,
];

const staff: Schema = ({ integer }) => [
  `create table site_staff (
    user_id ${integer} primary key references users (id),
    level ${integer} not null,
    added_by ${integer} not null, -- no key: 0 for the operator
    date_added ${integer} not null
  )`,
];

const bans: Schema = ({ id, integer, text }) => [
  `create table address_bans (
    id ${id},
    network ${text} not null unique,
    reason ${text} not null,
    user_id ${integer} not null, -- no key: 0 for the operator
    date_added ${integer} not null,
    date_expires ${integer} not null
  )`,
];

const relations: Schema = ({ integer, clustered }) => [
  `create table follows (
    user_id ${integer} not null references users (id),
    followed_id ${integer} not null references users (id),
    date_added ${integer} not null,
    primary key (user_id, followed_id)
  )${clustered}`,
  'create index follows_by_followed on follows (followed_id, user_id)',
  `create table mutes (
    user_id ${integer} not null references users (id),
    muted_id ${integer} not null references users (id),
    date_added ${integer} not null,
    primary key (user_id, muted_id)
  )${clustered}`,
  'create index mutes_by_muted on mutes (muted_id)',
  `create table blocks (
    user_id ${integer} not null references users (id),
    blocked_id ${integer} not null references users (id),
    date_added ${integer} not null,
    primary key (user_id, blocked_id)
  )${clustered}`,
  'create index blocks_by_blocked on blocks (blocked_id)',
];

const mailings: Schema = ({ integer, text }) => [
  `create table email_opt_outs (
    address_digest ${text} not null primary key,
    date_added ${integer} not null
  )`,
];

const notifications: Schema = ({ id, integer, text }) => [
  `create table notifications (
    id ${id},
    user_id ${integer} not null references users (id),
    kind ${text} not null,
    actor_id ${integer} not null, -- no key: 0 for nobody
    resource ${text} not null,
    resource_id ${integer} not null, -- no key, stays: of any resource; notifications are forgotten by age
    game_id ${integer} not null, -- no key: of a higher domain
    comment_id ${integer} not null, -- no key: of a higher domain
    date_added ${integer} not null,
    is_read ${integer} not null,
    date_mail ${integer} not null default 0,
    letter_id ${integer} not null default 0 -- no key: 0 for none
  )`,
  // The same action of the same user notifies once.
  `create unique index notifications_once on notifications (user_id, kind, actor_id, resource, resource_id,
    comment_id)`,
  'create index notifications_by_user on notifications (user_id, id)',
  'create index notifications_by_date on notifications (date_added)',
  'create index notifications_by_actor on notifications (actor_id)',
  'create index notifications_to_mail on notifications (date_mail, user_id) where date_mail > 0',
  'create index notifications_to_mail_by_user on notifications (user_id, date_mail) where date_mail > 0',
  'create index notifications_by_letter on notifications (letter_id) where letter_id > 0',
  `create table notification_modes (
    user_id ${integer} not null references users (id),
    kind ${text} not null,
    mode ${text} not null,
    primary key (user_id, kind)
  )`,
  `create table notification_letters (
    id ${id},
    user_id ${integer} not null references users (id),
    date_added ${integer} not null,
    date_sent ${integer} not null
  )`,
  'create index notification_letters_by_user on notification_letters (user_id, date_added)',
  'create index notification_letters_by_date on notification_letters (date_added)',
];

/** The tables of people in version 0.2.0. */
export const peopleSchema: Migration = {
  name: '2026-11-16-schema-people',
  up: (...types) => [
    ...users(...types),
    ...agreements(...types),
    ...staff(...types),
    ...bans(...types),
    ...relations(...types),
    ...mailings(...types),
    ...notifications(...types),
  ],
};
