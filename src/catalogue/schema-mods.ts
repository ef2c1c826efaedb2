import type { Schema } from '../platform/database/migrate.ts';

const WORDS_ORDER = '(game_id, shown, word, popularity desc, mod_id)';

const mods: Schema = ({ id, integer, number, text }) => [
  // Numbers come before texts, because SQLite reads columns from the beginning of a row.
  `create table mods (
    id ${id},
    game_id ${integer} not null references games (id),
    status ${integer} not null,
    visible ${integer} not null,
    submitted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_live ${integer} not null,
    maturity_option ${integer} not null,
    community_options ${integer} not null,
    monetization_options ${integer} not null,
    credit_options ${integer} not null,
    stock ${integer} not null,
    price ${integer} not null,
    tax ${integer} not null,
    downloads_today ${integer} not null,
    downloads_total ${integer} not null,
    subscribers_total ${integer} not null,
    ratings_weighted_aggregate ${number} not null,
    popularity ${number} not null,
    name_id ${text} not null,
    name ${text} not null,
    name_folded ${text} not null,
    logo ${text},
    homepage_url ${text},
    summary ${text} not null,
    metadata_blob_folded ${text} not null,
    metadata_blob ${text},
    description ${text} not null,
    dmca ${integer} not null default 0,
    unique (game_id, name_id)
  )`,
  // Indexes for pages of lists: equality in the first three columns, order by the fourth. The first one also covers the
  // most common filters, so that matches are counted without reading rows.
  `create index mods_by_id on mods (game_id, status, visible, id, maturity_option, community_options,
    monetization_options, stock, price)`,
  'create index mods_by_date_added on mods (game_id, status, visible, date_added, id)',
  'create index mods_by_date_live on mods (game_id, status, visible, date_live, id)',
  'create index mods_by_date_updated on mods (game_id, status, visible, date_updated, id)',
  'create index mods_by_name on mods (game_id, status, visible, name_folded, id)',
  'create index mods_by_submitted_by on mods (game_id, status, visible, submitted_by, id)',
  // Clients ask for the largest first, so the index is descending, with `id` ascending.
  'create index mods_by_downloads_today on mods (game_id, status, visible, downloads_today desc, id)',
  'create index mods_by_downloads_total on mods (game_id, status, visible, downloads_total desc, id)',
  'create index mods_by_subscribers_total on mods (game_id, status, visible, subscribers_total desc, id)',
  `create index mods_by_ratings_weighted_aggregate on mods (game_id, status, visible, ratings_weighted_aggregate
    desc, id)`,
  'create index mods_by_popularity on mods (game_id, status, visible, popularity desc, id)',
  'create index mods_by_logo on mods (logo)',
  // Most content is accepted, so pending and deleted mods have small partial indexes in the order of the queues.
  'create index mods_waiting on mods (id) where status = 0',
  'create index mods_waiting_by_game on mods (game_id, id) where status = 0',
  'create index mods_waiting_by_date on mods (date_added, id) where status = 0',
  'create index mods_deleted on mods (id) where status = 3',
  'create index mods_deleted_by_game on mods (game_id, id) where status = 3',
  'create index mods_deleted_by_date on mods (date_added, id) where status = 3',
  `create table mod_cards (
    mod_id ${integer} not null primary key references mods (id) on delete cascade,
    submitted_by ${integer} not null, -- no key: repeats the mod's
    needs ${integer} not null,
    file_id ${integer}, -- no key: of a higher domain
    name_id ${text} not null,
    file_body ${text},
    body ${text} not null,
    -- What a link to the live file says of the file, complete except for the signature.
    file_link ${text},
    -- What decides who may see a mod is stored with what they see.
    game_id ${integer} not null default 0, -- no key: repeats the mod's
    status ${integer} not null default 0,
    visible ${integer} not null default 0
  )`,
  'create index mod_cards_by_submitted_by on mod_cards (submitted_by)',
  `create table mod_documents (
    mod_id ${integer} not null references mods (id) on delete cascade,
    language ${text} not null,
    body ${text} not null,
    primary key (mod_id, language)
  )`,
  `create table mod_stats (
    mod_id ${integer} not null primary key references mods (id) on delete cascade,
    popularity_rank_position ${integer} not null,
    popularity_rank_total_mods ${integer} not null,
    downloads_today ${integer} not null,
    downloads_total ${integer} not null,
    subscribers_total ${integer} not null,
    ratings_total ${integer} not null,
    ratings_positive ${integer} not null,
    ratings_negative ${integer} not null,
    ratings_percentage_positive ${integer} not null,
    ratings_weighted_aggregate ${number} not null,
    ratings_display_text ${text} not null,
    date_expires ${integer} not null,
    counted ${text} not null default '',
    ranked ${text} not null default ''
  )`,
];

const words: Schema = ({ integer, number, text, clustered }, dialect) => [
  // The words of mods in the order of search results. SQLite stores rows in the order of their primary key; PostgreSQL
  // has no descending primary keys.
  `create table mod_words (
    game_id ${integer} not null, -- no key: repeats the mod's
    shown ${integer} not null,
    word ${text} not null,
    popularity ${number} not null,
    mod_id ${integer} not null references mods (id) on delete cascade,
    primary key ${dialect === 'sqlite' ? `${WORDS_ORDER}) without rowid` : '(mod_id, word))'}`,
  ...(dialect === 'postgres' ? [`create unique index mod_words_in_order on mod_words ${WORDS_ORDER}`] : []),
  'create index mod_words_by_mod on mod_words (mod_id, word)',
  `create table mod_vocabulary (
    game_id ${integer} not null references games (id),
    word ${text} not null,
    mods_count ${integer} not null,
    primary key (game_id, word)
  )${clustered}`,
];

const details: Schema = ({ id, integer, number, text, clustered }) => [
  `create table mod_tags (
    mod_id ${integer} not null references mods (id) on delete cascade,
    tag_id ${integer} not null, -- no key, stays: a job takes a removed tag off its mods
    name_folded ${text} not null,
    date_added ${integer} not null,
    -- Repeated from the mod, so that a tag lists its mods in the order in which they are shown.
    shown ${integer} not null default 0,
    popularity ${number} not null default 0,
    primary key (mod_id, tag_id)
  )`,
  'create index mod_tags_by_tag on mod_tags (tag_id, mod_id)',
  'create index mod_tags_in_order on mod_tags (tag_id, shown, popularity desc, mod_id)',
  `create table mod_metadata (
    id ${id},
    mod_id ${integer} not null references mods (id) on delete cascade,
    pair ${text} not null,
    unique (mod_id, pair)
  )`,
  'create index mod_metadata_by_pair on mod_metadata (pair, mod_id)',
  `create table mod_media (
    id ${id},
    mod_id ${integer} not null references mods (id),
    kind ${text} not null,
    value ${text} not null,
    position ${integer} not null,
    bytes ${integer} not null,
    unique (mod_id, kind, value)
  )`,
  'create index mod_media_by_value on mod_media (value)',
  `create table mod_dependencies (
    mod_id ${integer} not null references mods (id) on delete cascade,
    dependency_id ${integer} not null references mods (id) on delete cascade,
    date_added ${integer} not null,
    primary key (mod_id, dependency_id)
  )${clustered}`,
  'create index mod_dependencies_by_dependency on mod_dependencies (dependency_id, mod_id)',
];

const downloads: Schema = ({ integer, text }) => [
  `create table mod_download_hours (
    mod_id ${integer} not null, -- no key: downloads are counted up to a second later, when the mod may be gone
    hour ${integer} not null,
    game_id ${integer} not null, -- no key: repeats the mod's
    downloads ${integer} not null,
    primary key (mod_id, hour)
  )`,
  'create index mod_download_hours_by_game on mod_download_hours (game_id, hour, mod_id)',
  `create table mod_platform_download_hours (
    mod_id ${integer} not null, -- no key: downloads are counted up to a second later, when the mod may be gone
    platform ${text} not null,
    hour ${integer} not null,
    game_id ${integer} not null, -- no key: repeats the mod's
    downloads ${integer} not null,
    primary key (mod_id, platform, hour)
  )`,
  'create index mod_platform_download_hours_by_game on mod_platform_download_hours (game_id, platform, hour)',
];

const findings: Schema = ({ id, integer, text }) => [
  `create table modfile_findings (
    id ${id},
    game_id ${integer} not null references games (id),
    mod_id ${integer} not null references mods (id) on delete cascade,
    modfile_id ${integer} not null, -- no key: of a higher domain
    kind ${integer} not null,
    path ${text} not null,
    detail ${text} not null,
    date_added ${integer} not null
  )`,
  'create index modfile_findings_by_game on modfile_findings (game_id, id)',
  'create index modfile_findings_by_mod on modfile_findings (mod_id)',
  'create index modfile_findings_by_modfile on modfile_findings (modfile_id)',
];

export const modsSchema: Schema = (...types) => [
  ...mods(...types),
  ...words(...types),
  ...details(...types),
  ...downloads(...types),
  ...findings(...types),
];
