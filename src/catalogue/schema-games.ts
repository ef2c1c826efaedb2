import type { Schema } from '../platform/database/migrate.ts';

const games: Schema = ({ id, integer, text }) => [
  `create table games (
    id ${id},
    status ${integer} not null,
    submitted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_live ${integer} not null,
    presentation_option ${integer} not null,
    submission_option ${integer} not null,
    dependency_option ${integer} not null,
    curation_option ${integer} not null,
    profanity_option ${integer} not null,
    community_options ${integer} not null,
    monetization_options ${integer} not null,
    api_access_options ${integer} not null,
    maturity_options ${integer} not null,
    revenue_options ${integer} not null,
    limit_collection_mods ${integer} not null,
    cloud_cooking_status ${integer} not null,
    max_stock ${integer} not null,
    service_features ${integer} not null,
    name ${text} not null,
    name_folded ${text} not null,
    name_id ${text} not null unique,
    summary ${text} not null,
    summary_folded ${text} not null,
    instructions ${text},
    instructions_url ${text},
    instructions_url_folded ${text} not null,
    ugc_name ${text} not null,
    ugc_name_folded ${text} not null,
    token_name ${text} not null,
    icon ${text},
    logo ${text},
    header ${text},
    theme ${text} not null,
    other_urls ${text} not null,
    takedown_reports ${integer} not null default 0,
    summary_length_max ${integer} not null default 200
  )`,
  'create index games_by_status on games (status, id)',
  'create index games_by_name on games (name_folded, id)',
  'create index games_by_date_live on games (date_live, id)',
  'create index games_by_date_updated on games (date_updated, id)',
  'create index games_by_submitter on games (submitted_by)',
  `create table game_documents (
    game_id ${integer} not null references games (id),
    language ${text} not null,
    body ${text} not null,
    primary key (game_id, language)
  )`,
  `create table game_tag_documents (
    game_id ${integer} not null references games (id),
    language ${text} not null,
    tags ${text} not null,
    tags_with_hidden ${text} not null,
    primary key (game_id, language)
  )`,
  `create table game_platforms (
    game_id ${integer} not null references games (id),
    platform ${text} not null,
    label ${text} not null,
    moderated ${integer} not null,
    locked ${integer} not null,
    primary key (game_id, platform)
  )`,
  `create table game_stats (
    game_id ${integer} not null primary key references games (id),
    mods_count_total ${integer} not null,
    mods_downloads_today ${integer} not null,
    mods_downloads_total ${integer} not null,
    mods_downloads_daily_average ${integer} not null,
    mods_subscribers_total ${integer} not null,
    date_expires ${integer} not null
  )`,
  `create table game_words (
    game_id ${integer} not null references games (id),
    word ${text} not null,
    primary key (word, game_id)
  )`,
  'create index game_words_by_game on game_words (game_id)',
];

const tagOptions: Schema = ({ id, integer, text }) => [
  `create table game_tag_groups (
    id ${id},
    game_id ${integer} not null references games (id),
    name ${text} not null,
    type ${text} not null,
    hidden ${integer} not null,
    locked ${integer} not null,
    position ${integer} not null,
    -- Where players may filter by these tags: names with commas between them, empty for all.
    platforms ${text} not null default '',
    unique (game_id, name)
  )`,
  `create table game_tags (
    id ${id},
    group_id ${integer} not null references game_tag_groups (id),
    name ${text} not null,
    position ${integer} not null,
    mods_count ${integer} not null,
    unique (group_id, name)
  )`,
  `create table game_tag_renames (
    game_id ${integer} not null primary key references games (id),
    tag_id ${integer} not null, -- no key, stays: it lasts until its job ends, also where the tag is removed meanwhile
    name ${text} not null,
    date_added ${integer} not null
  )`,
  `create table mod_tag_pairs (
    tag_id ${integer} not null references game_tags (id) on delete cascade,
    other_id ${integer} not null references game_tags (id) on delete cascade,
    mods_count ${integer} not null,
    primary key (tag_id, other_id)
  )`,
  'create index mod_tag_pairs_by_other on mod_tag_pairs (other_id)',
];

const restrictions: Schema = ({ id, integer, text }) => [
  `create table game_restrictions (
    id ${id},
    game_id ${integer} not null references games (id),
    user_id ${integer} not null references users (id),
    options ${integer} not null,
    reason ${text} not null,
    restricted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    unique (game_id, user_id)
  )`,
  `create table game_wordlists (
    game_id ${integer} not null primary key references games (id),
    allowed ${text} not null,
    denied ${text} not null,
    date_updated ${integer} not null
  )`,
  `create table game_file_types (
    game_id ${integer} not null primary key references games (id),
    refused ${text} not null,
    reported ${text} not null
  )`,
];

const rules: Schema = ({ id, integer, text }) => [
  `create table game_rules (
    id ${id},
    game_id ${integer} not null references games (id),
    position ${integer} not null,
    enabled ${integer} not null,
    version ${integer} not null,
    date_added ${integer} not null,
    date_updated ${integer} not null
  )`,
  'create index game_rules_by_game on game_rules (game_id, position, id)',
  `create table game_rule_versions (
    id ${id},
    -- no key, stays: versions tell what an earlier decision followed, also of a removed rule
    rule_id ${integer} not null,
    game_id ${integer} not null references games (id),
    version ${integer} not null,
    name ${text} not null,
    operations ${text} not null,
    condition ${text} not null,
    verdict ${text} not null,
    message ${text} not null,
    edited_by ${integer} not null references users (id),
    date_added ${integer} not null,
    unique (rule_id, version)
  )`,
  `create table rule_decisions (
    id ${id},
    game_id ${integer} not null references games (id),
    user_id ${integer} not null references users (id),
    operation ${text} not null,
    verdict ${text} not null,
    -- no key, stays: versions tell what an earlier decision followed, also of a removed rule
    rule_id ${integer} not null,
    rule_version ${integer} not null,
    reports ${text} not null,
    facts ${text} not null,
    digest ${text} not null,
    date_added ${integer} not null,
    webhooks ${text} not null default '[]',
    awaits_studio ${integer} not null default 0,
    resource ${text} not null default '',
    resource_id ${integer} not null default 0 -- no key, stays: of any resource; a decision is kept for its time
  )`,
  'create index rule_decisions_by_game on rule_decisions (game_id, id)',
  'create index rule_decisions_by_date on rule_decisions (date_added)',
  // A covering index for all counts over a user's latest submissions.
  'create index rule_decisions_by_person on rule_decisions (game_id, user_id, date_added, verdict, digest)',
  'create index rule_decisions_untold on rule_decisions (game_id, id) where awaits_studio = 1',
  `create table rule_holds (
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    game_id ${integer} not null references games (id),
    -- no key, stays: versions tell what an earlier decision followed, also of a removed rule
    rule_id ${integer} not null,
    rule_version ${integer} not null,
    date_added ${integer} not null,
    primary key (resource, resource_id)
  )`,
];

const reviews: Schema = ({ id, integer, text }) => [
  `create table reviewing_games (
    game_id ${integer} not null primary key references games (id),
    date_added ${integer} not null
  )`,
  `create table permission_reviews (
    id ${id},
    game_id ${integer} not null references games (id),
    requested_by ${integer} not null references users (id),
    change ${text} not null,
    approved ${integer},
    decided_by ${integer} references users (id),
    date_added ${integer} not null,
    date_expires ${integer} not null,
    date_used ${integer}
  )`,
  'create index permission_reviews_by_game on permission_reviews (game_id, date_expires)',
  'create index permission_reviews_by_requester on permission_reviews (requested_by)',
  'create index permission_reviews_by_decider on permission_reviews (decided_by)',
];

export const gamesSchema: Schema = (...types) => [
  ...games(...types),
  ...tagOptions(...types),
  ...restrictions(...types),
  ...rules(...types),
  ...reviews(...types),
];
