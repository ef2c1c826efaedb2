import type { Migration } from '../../../platform/database/migrate.ts';

/** Where the largest come first by habit, the index runs that way, and `id` beside it still counts up. */
const SORTED = [
  'date_added',
  'date_live',
  'date_updated',
  'name_folded',
  'submitted_by',
  'downloads_today desc',
  'downloads_total desc',
  'subscribers_total desc',
  'ratings_weighted_aggregate desc',
  'popularity desc',
];

const named = (column: string) => column.replace(/_folded| desc/g, '');

export const migration: Migration = {
  name: '2026-11-15-mods',
  up: ({ id, integer, number, text }) => [
    // Numbers before texts: SQLite then finds what filters ask for at the beginning of a row.
    `create table mods (id ${id}, game_id ${integer} not null, status ${integer} not null, visible ${integer} not null,
      submitted_by ${integer} not null, date_added ${integer} not null, date_updated ${integer} not null,
      date_live ${integer} not null, maturity_option ${integer} not null, community_options ${integer} not null,
      monetization_options ${integer} not null, credit_options ${integer} not null, stock ${integer} not null,
      price ${integer} not null, tax ${integer} not null,
      downloads_today ${integer} not null, downloads_total ${integer} not null, subscribers_total ${integer} not null,
      ratings_weighted_aggregate ${number} not null, popularity ${number} not null,
      name_id ${text} not null, name ${text} not null, name_folded ${text} not null, logo ${text}, homepage_url ${text},
      summary ${text} not null, metadata_blob_folded ${text} not null, metadata_blob ${text}, description ${text} not null,
      unique (game_id, name_id))`,
    // Lists are cut from these alone: equal in the first three, in order by the fourth.
    // Behind the first of them stand the columns that filters ask for most, so that matches are counted in it too.
    `create index mods_by_id on mods (game_id, status, visible, id, maturity_option, community_options,
      monetization_options, stock, price)`,
    ...SORTED.map(
      (column) => `create index mods_by_${named(column)} on mods (game_id, status, visible, ${column}, id)`,
    ),
    'create index mods_by_logo on mods (logo)',
    `create table mod_documents (mod_id ${integer} not null, language ${text} not null, body ${text} not null,
      primary key (mod_id, language))`,
    `create table mod_stats (mod_id ${integer} not null primary key, popularity_rank_position ${integer} not null,
      popularity_rank_total_mods ${integer} not null, downloads_today ${integer} not null,
      downloads_total ${integer} not null, subscribers_total ${integer} not null, ratings_total ${integer} not null,
      ratings_positive ${integer} not null, ratings_negative ${integer} not null,
      ratings_percentage_positive ${integer} not null, ratings_weighted_aggregate ${number} not null,
      ratings_display_text ${text} not null, date_expires ${integer} not null)`,
    `create table mod_words (mod_id ${integer} not null, word ${text} not null, primary key (word, mod_id))`,
    'create index mod_words_by_mod on mod_words (mod_id)',
  ],
};
