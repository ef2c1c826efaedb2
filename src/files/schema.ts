import type { Migration, Schema } from '../platform/database/migrate.ts';

const modfiles: Schema = ({ id, integer, text, clustered }) => [
  // Numbers before texts: SQLite then finds filtered columns at the beginning of a row.
  `create table modfiles (
    id ${id},
    mod_id ${integer} not null references mods (id),
    game_id ${integer} not null references games (id),
    submitted_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_scanned ${integer} not null,
    virus_status ${integer} not null,
    virus_positive ${integer} not null,
    filesize ${integer} not null,
    filesize_uncompressed ${integer} not null,
    status ${integer} not null,
    withdrawn ${integer} not null,
    kind ${text} not null,
    virustotal_hash ${text},
    md5 ${text} not null,
    sha256 ${text} not null,
    storage_key ${text} not null,
    filename ${text} not null,
    version ${text},
    version_folded ${text} not null,
    changelog ${text},
    changelog_folded ${text} not null,
    metadata_blob ${text},
    filename_folded ${text} not null default '',
    metadata_blob_folded ${text} not null default '',
    released ${integer} not null default 0
  )`,
  'create index modfiles_by_mod on modfiles (mod_id, status, kind, id)',
  'create index modfiles_by_submitter on modfiles (submitted_by, status, kind, id)',
  'create index modfiles_by_storage_key on modfiles (storage_key)',
  'create index modfiles_never_scanned on modfiles (storage_key) where date_scanned = 0 and status <> 3',
  `create table modfile_documents (
    modfile_id ${integer} not null primary key references modfiles (id) on delete cascade,
    body ${text} not null,
    -- Links are signed for the bytes of a file.
    sha256 ${text} not null default ''
  )`,
  `create table modfile_platforms (
    modfile_id ${integer} not null references modfiles (id) on delete cascade,
    platform ${text} not null,
    status ${integer} not null,
    primary key (modfile_id, platform)
  )${clustered}`,
  'create index modfile_platforms_waiting on modfile_platforms (modfile_id, platform) where status = 0',
  `create table modfile_arrivals (
    token ${text} not null primary key,
    storage_key ${text} not null,
    date_expires ${integer} not null
  )`,
  'create index modfile_arrivals_by_key on modfile_arrivals (storage_key)',
  `create table mod_live_files (
    mod_id ${integer} not null references mods (id) on delete cascade,
    platform ${text} not null,
    modfile_id ${integer} not null references modfiles (id) on delete cascade,
    primary key (mod_id, platform)
  )${clustered}`,
  'create index mod_live_files_by_modfile on mod_live_files (modfile_id)',
  `create table mod_awaited_files (
    mod_id ${integer} not null references mods (id) on delete cascade,
    platform ${text} not null,
    modfile_id ${integer} not null references modfiles (id) on delete cascade,
    primary key (mod_id, platform)
  )${clustered}`,
  'create index mod_awaited_files_by_modfile on mod_awaited_files (modfile_id)',
];

const uploads: Schema = ({ id, integer, text }) => [
  `create table uploads (
    id ${id},
    upload_id ${text} not null unique,
    game_id ${integer} not null references games (id),
    mod_id ${integer} not null references mods (id),
    user_id ${integer} not null references users (id),
    filename ${text} not null,
    nonce ${text},
    status ${integer} not null,
    total ${integer} not null,
    received ${integer} not null,
    handle ${text},
    claim ${text},
    claim_until ${integer} not null,
    md5 ${text},
    sha256 ${text},
    used ${integer} not null default 0,
    date_added ${integer} not null,
    date_updated ${integer} not null,
    unique (mod_id, user_id, nonce)
  )`,
  'create index uploads_by_user on uploads (user_id, status)',
  'create index uploads_by_status on uploads (status, date_updated)',
  `create table upload_parts (
    upload_id ${text} not null references uploads (upload_id) on delete cascade,
    part_number ${integer} not null,
    start ${integer} not null,
    bytes ${integer} not null,
    sha256 ${text},
    tag ${text} not null,
    claim ${text},
    claim_until ${integer} not null,
    wanted ${integer} not null default 0,
    date_added ${integer} not null,
    primary key (upload_id, part_number)
  )`,
];

const downloads: Schema = ({ integer, text, clustered }) => [
  `create table counted_downloads (
    -- no key, stays: downloads are counted up to a second later, when the mod may be gone; forgotten after a day
    mod_id ${integer} not null,
    platform ${text} not null,
    address ${text} not null,
    date_counted ${integer} not null,
    primary key (mod_id, platform, address)
  )${clustered}`,
  'create index counted_downloads_by_date on counted_downloads (date_counted)',
];

const releases: Schema = ({ id, integer, text }) => [
  `create table release_guards (
    user_id ${integer} not null primary key references users (id),
    date_added ${integer} not null,
    code_digest ${text},
    attempts ${integer} not null,
    date_asked ${integer},
    date_expires ${integer}
  )`,
  `create table releases (
    id ${id},
    user_id ${integer} not null references users (id),
    actor_id ${integer} not null references users (id),
    game_id ${integer} not null references games (id),
    mod_id ${integer} not null references mods (id),
    modfile_id ${integer} not null references modfiles (id) on delete cascade,
    shown ${integer} not null,
    ip ${text} not null,
    token_id ${integer}, -- no key, stays: a token may end before the release does
    digest ${text} unique,
    date_added ${integer} not null,
    date_expires ${integer} not null
  )`,
  'create unique index releases_by_user on releases (user_id, actor_id, modfile_id)',
  'create index releases_by_actor on releases (actor_id)',
  'create index releases_by_modfile on releases (modfile_id)',
  'create index releases_by_mod on releases (mod_id)',
  'create index releases_by_end on releases (date_expires)',
  `create table release_newcomers (
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    user_id ${integer} not null references users (id),
    guardian_id ${integer} not null references users (id),
    date_added ${integer} not null,
    primary key (resource, resource_id, user_id)
  )`,
  'create index release_newcomers_by_user on release_newcomers (user_id)',
  'create index release_newcomers_by_guardian on release_newcomers (guardian_id)',
];

const vaults: Schema = ({ integer }) => [
  `create table mod_vaults (
    mod_id ${integer} primary key references mods (id) on delete cascade,
    date_opens ${integer} not null,
    date_closes ${integer} not null,
    date_updated ${integer} not null
  )`,
];

const cooking: Schema = ({ id, integer, text }) => [
  `create table cook_runners (
    id ${id},
    game_id ${integer} not null references games (id),
    added_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_seen ${integer} not null,
    date_revoked ${integer} not null,
    name ${text} not null,
    platforms ${text} not null,
    digest ${text} not null unique
  )`,
  'create index cook_runners_by_game on cook_runners (game_id, date_revoked, id)',
  `create table cooks (
    id ${id},
    game_id ${integer} not null references games (id),
    mod_id ${integer} not null references mods (id),
    source_id ${integer} not null references modfiles (id),
    result_id ${integer} not null, -- no key: 0 for none
    status ${integer} not null,
    active ${integer} not null,
    attempts ${integer} not null,
    progress ${integer} not null,
    runner_id ${integer} references cook_runners (id),
    date_lease ${integer} not null,
    started_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    cook_uuid ${text} not null unique,
    platform ${text} not null,
    claim ${text},
    error ${text} not null,
    metadata ${text} not null
  )`,
  'create index cooks_by_game on cooks (game_id, id)',
  'create index cooks_open on cooks (game_id, status, id) where status < 2',
  'create index cooks_by_mod on cooks (mod_id, id)',
  'create index cooks_by_source on cooks (source_id, platform)',
  'create unique index cooks_by_claim on cooks (claim)',
  `create table cook_logs (
    id ${id},
    cook_id ${integer} not null references cooks (id) on delete cascade,
    line ${text} not null
  )`,
  'create index cook_logs_by_cook on cook_logs (cook_id, id)',
  `create table cook_builds (
    id ${id},
    game_id ${integer} not null references games (id),
    is_live ${integer} not null,
    total ${integer} not null,
    bytes_uncompressed ${integer} not null,
    added_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_updated ${integer} not null,
    date_expires ${integer} not null,
    build_uuid ${text} not null unique,
    state ${text} not null,
    filename ${text} not null,
    handle ${text},
    storage_key ${text},
    md5 ${text} not null,
    sha256 ${text} not null,
    problem ${text} not null,
    virus_status ${integer} not null default 0,
    virus_positive ${integer} not null default 0,
    date_scanned ${integer} not null default 0,
    findings ${text} not null default '[]'
  )`,
  'create index cook_builds_by_game on cook_builds (game_id, id)',
  `create table cook_build_parts (
    build_id ${integer} not null references cook_builds (id) on delete cascade,
    part_number ${integer} not null,
    start ${integer} not null,
    bytes ${integer} not null,
    sha256 ${text} not null,
    tag ${text} not null,
    primary key (build_id, part_number)
  )`,
];

/** The tables of files in version 0.2.0. */
export const filesSchema: Migration = {
  name: '2026-11-16-schema-files',
  up: (...types) => [
    ...modfiles(...types),
    ...uploads(...types),
    ...downloads(...types),
    ...releases(...types),
    ...vaults(...types),
    ...cooking(...types),
  ],
};
