import type { Migration, Schema } from '../platform/database/migrate.ts';

const subscriptions: Schema = ({ integer, clustered }) => [
  `create table subscriptions (
    user_id ${integer} not null references users (id),
    mod_id ${integer} not null references mods (id),
    date_added ${integer} not null,
    primary key (user_id, mod_id)
  )${clustered}`,
  'create index subscriptions_by_mod on subscriptions (mod_id, user_id, date_added)',
];

const ratings: Schema = ({ id, integer, text }) => [
  `create table ratings (
    id ${id},
    user_id ${integer} not null references users (id),
    game_id ${integer} not null references games (id),
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    rating ${integer} not null,
    date_added ${integer} not null,
    unique (user_id, resource, resource_id)
  )`,
  'create index ratings_by_resource on ratings (resource, resource_id)',
];

const comments: Schema = ({ id, integer, text }) => [
  `create table comments (
    id ${id},
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    game_id ${integer} not null references games (id),
    submitted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_deleted ${integer} not null,
    deleted_by ${integer} not null, -- no key: 0 for nobody
    reply_id ${integer} not null, -- no key: 0 for none
    karma ${integer} not null,
    options ${integer} not null,
    thread_position ${text} not null,
    thread_order ${text} not null,
    content ${text} not null,
    markup ${text} not null,
    markup_folded ${text} not null,
    withheld ${integer} not null default 0
  )`,
  // By default pinned comments come first.
  'create index comments_of_resource on comments (resource, resource_id, date_deleted, (options & 1) desc, id)',
  'create index comments_by_karma on comments (resource, resource_id, date_deleted, karma, id)',
  'create unique index comments_by_position on comments (resource, resource_id, reply_id, thread_order)',
  'create index comments_by_author on comments (submitted_by, date_added)',
  // Few comments are withheld, so this index answers most lists at once.
  'create index comments_withheld on comments (resource, resource_id) where withheld > 0',
  'create index comments_waiting on comments (id) where withheld = 1',
  'create index comments_taken on comments (id) where withheld = 3',
  `create table comment_votes (
    comment_id ${integer} not null references comments (id) on delete cascade,
    user_id ${integer} not null references users (id),
    karma ${integer} not null,
    primary key (comment_id, user_id)
  )`,
  // Read when an account is deleted or merged.
  'create index comment_votes_by_user on comment_votes (user_id, comment_id)',
  `create table comment_mentions (
    comment_id ${integer} not null references comments (id) on delete cascade,
    user_id ${integer} not null references users (id),
    primary key (comment_id, user_id)
  )`,
  'create index comment_mentions_by_user on comment_mentions (user_id, comment_id)',
];

const guides: Schema = ({ id, integer, text }) => [
  `create table guides (
    id ${id},
    game_id ${integer} not null references games (id),
    status ${integer} not null,
    date_live ${integer} not null,
    submitted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    community_options ${integer} not null,
    withheld ${integer} not null,
    dmca ${integer} not null,
    visits_today ${integer} not null,
    visits_total ${integer} not null,
    comments_total ${integer} not null,
    name_id ${text} not null,
    name ${text} not null,
    name_folded ${text} not null,
    logo ${text},
    summary ${text} not null,
    description ${text} not null,
    unique (game_id, name_id)
  )`,
  'create index guides_by_id on guides (game_id, status, id, date_live)',
  'create index guides_by_date_live on guides (game_id, status, date_live, id)',
  'create index guides_by_date_updated on guides (game_id, status, date_updated, id)',
  'create index guides_by_name_folded on guides (game_id, status, name_folded, id)',
  'create index guides_by_submitted_by on guides (game_id, status, submitted_by, id)',
  // Clients sort the largest first, so the index descends while `id` ascends.
  'create index guides_by_visits_today on guides (game_id, status, visits_today desc, id)',
  'create index guides_by_visits_total on guides (game_id, status, visits_total desc, id)',
  'create index guides_by_comments_total on guides (game_id, status, comments_total desc, id)',
  'create index guides_by_logo on guides (logo)',
  // Most content is accepted, so pending and deleted content has small indexes in the order of the queues.
  'create index guides_waiting on guides (id) where status = 0',
  'create index guides_waiting_by_game on guides (game_id, id) where status = 0',
  'create index guides_waiting_by_date on guides (date_added, id) where status = 0',
  'create index guides_deleted on guides (id) where status = 3',
  'create index guides_deleted_by_game on guides (game_id, id) where status = 3',
  'create index guides_deleted_by_date on guides (date_added, id) where status = 3',
  `create table guide_tags (
    guide_id ${integer} not null references guides (id) on delete cascade,
    name ${text} not null,
    name_folded ${text} not null,
    date_added ${integer} not null,
    primary key (guide_id, name_folded)
  )`,
  'create index guide_tags_by_name on guide_tags (name_folded, guide_id)',
  `create table guide_visits (
    guide_id ${integer} not null references guides (id) on delete cascade,
    visitor ${text} not null,
    hour ${integer} not null,
    primary key (guide_id, visitor)
  )`,
  'create index guide_visits_by_hour on guide_visits (hour, guide_id)',
  `create table guide_words (
    guide_id ${integer} not null references guides (id) on delete cascade,
    word ${text} not null,
    primary key (word, guide_id)
  )`,
  'create index guide_words_by_guide on guide_words (guide_id)',
];

const collections: Schema = ({ id, integer, text, clustered }) => [
  `create table collections (
    id ${id},
    game_id ${integer} not null references games (id),
    status ${integer} not null,
    visible ${integer} not null,
    submitted_by ${integer} not null references users (id),
    category ${integer} not null,
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_live ${integer} not null,
    date_disabled ${integer} not null,
    limit_mods ${integer} not null,
    followers_total ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    registering_until ${integer} not null,
    deleted_by ${integer} not null, -- no key: 0 for nobody
    name_id ${text} not null,
    name ${text} not null,
    name_folded ${text} not null,
    logo ${text},
    tags ${text} not null,
    summary ${text} not null,
    deleted_reason ${text} not null,
    description ${text} not null,
    comments_total ${integer} not null default 0,
    unique (game_id, name_id)
  )`,
  'create index collections_by_id on collections (game_id, status, visible, id)',
  'create index collections_by_date_live on collections (game_id, status, visible, date_live, id)',
  'create index collections_by_date_updated on collections (game_id, status, visible, date_updated, id)',
  'create index collections_by_name on collections (game_id, status, visible, name_folded, id)',
  'create index collections_by_submitter on collections (submitted_by, id)',
  'create index collections_by_logo on collections (logo)',
  // Most content is accepted, so pending and deleted content has small indexes in the order of the queues.
  'create index collections_waiting on collections (id) where status = 0',
  'create index collections_waiting_by_game on collections (game_id, id) where status = 0',
  'create index collections_waiting_by_date on collections (date_added, id) where status = 0',
  'create index collections_deleted on collections (id) where status = 3',
  'create index collections_deleted_by_game on collections (game_id, id) where status = 3',
  'create index collections_deleted_by_date on collections (date_added, id) where status = 3',
  `create table collection_mods (
    collection_id ${integer} not null references collections (id) on delete cascade,
    mod_id ${integer} not null references mods (id),
    place ${integer} not null,
    date_added ${integer} not null,
    primary key (collection_id, mod_id)
  )${clustered}`,
  'create index collection_mods_by_mod on collection_mods (mod_id, collection_id)',
  `create table collection_tags (
    collection_id ${integer} not null references collections (id) on delete cascade,
    tag ${text} not null,
    primary key (tag, collection_id)
  )${clustered}`,
  'create index collection_tags_by_collection on collection_tags (collection_id)',
  `create table collection_words (
    collection_id ${integer} not null references collections (id) on delete cascade,
    word ${text} not null,
    primary key (word, collection_id)
  )${clustered}`,
  'create index collection_words_by_collection on collection_words (collection_id)',
  `create table collection_followers (
    collection_id ${integer} not null references collections (id) on delete cascade,
    user_id ${integer} not null references users (id),
    date_added ${integer} not null,
    primary key (collection_id, user_id)
  )${clustered}`,
  'create index collection_followers_by_user on collection_followers (user_id, collection_id)',
  `create table collection_ratings (
    collection_id ${integer} not null references collections (id) on delete cascade,
    user_id ${integer} not null references users (id),
    rating ${integer} not null,
    date_added ${integer} not null,
    primary key (collection_id, user_id)
  )${clustered}`,
  // Read when an account is deleted or merged.
  'create index collection_ratings_by_user on collection_ratings (user_id, collection_id)',
  `create table collection_rating_days (
    collection_id ${integer} not null references collections (id) on delete cascade,
    day ${integer} not null,
    positive ${integer} not null,
    primary key (collection_id, day)
  )${clustered}`,
];

const messages: Schema = ({ id, integer, text }) => [
  `create table message_threads (
    id ${id},
    subject ${text} not null,
    started_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null
  )`,
  `create table message_members (
    thread_id ${integer} not null references message_threads (id) on delete cascade,
    user_id ${integer} not null references users (id),
    status ${integer} not null,
    invited_by ${integer} not null, -- no key: 0 for nobody
    date_added ${integer} not null,
    unread ${integer} not null,
    last_read_id ${integer} not null, -- no key: 0 for none
    primary key (thread_id, user_id)
  )`,
  'create index message_members_by_user on message_members (user_id, status, thread_id)',
  'create index message_members_by_inviter on message_members (invited_by, date_added)',
  `create table messages (
    id ${id},
    thread_id ${integer} not null references message_threads (id) on delete cascade,
    user_id ${integer} not null references users (id),
    first ${integer} not null,
    date_added ${integer} not null,
    date_deleted ${integer} not null,
    content ${text} not null,
    markup ${text} not null
  )`,
  'create index messages_by_thread on messages (thread_id, id)',
  'create index messages_by_user on messages (user_id, date_added)',
  `create table message_settings (
    user_id ${integer} primary key references users (id),
    accept_from ${integer} not null
  )`,
];

/** The tables of the community in version 0.2.0. */
export const communitySchema: Migration = {
  name: '2026-11-16-schema-community',
  up: (...types) => [
    ...subscriptions(...types),
    ...ratings(...types),
    ...comments(...types),
    ...guides(...types),
    ...collections(...types),
    ...messages(...types),
  ],
};
