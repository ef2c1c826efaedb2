import type { Migration } from '../../../platform/database/migrate.ts';

const SORTED = ['id', 'date_live', 'date_updated', 'name_folded'];

export const migration: Migration = {
  name: '2026-11-15-collections',
  up: ({ id, integer, text }, dialect) => {
    const pairs = dialect === 'sqlite' ? ' without rowid' : '';
    return [
      `create table collections (id ${id}, game_id ${integer} not null, status ${integer} not null,
        visible ${integer} not null, submitted_by ${integer} not null, category ${integer} not null,
        date_added ${integer} not null, date_updated ${integer} not null, date_live ${integer} not null,
        date_disabled ${integer} not null, limit_mods ${integer} not null, followers_total ${integer} not null,
        ratings_positive ${integer} not null, ratings_negative ${integer} not null,
        registering_until ${integer} not null, deleted_by ${integer} not null, name_id ${text} not null,
        name ${text} not null, name_folded ${text} not null, logo ${text}, tags ${text} not null,
        summary ${text} not null, deleted_reason ${text} not null, description ${text} not null,
        unique (game_id, name_id))`,
      ...SORTED.map(
        (column) =>
          `create index collections_by_${column.replace('_folded', '')} on collections
            (game_id, status, visible, ${column}${column === 'id' ? '' : ', id'})`,
      ),
      'create index collections_by_submitter on collections (submitted_by, id)',
      'create index collections_by_logo on collections (logo)',
      `create table collection_mods (collection_id ${integer} not null, mod_id ${integer} not null,
        place ${integer} not null, date_added ${integer} not null, primary key (collection_id, mod_id))${pairs}`,
      'create index collection_mods_by_mod on collection_mods (mod_id, collection_id)',
      `create table collection_tags (collection_id ${integer} not null, tag ${text} not null,
        primary key (tag, collection_id))${pairs}`,
      'create index collection_tags_by_collection on collection_tags (collection_id)',
      `create table collection_words (collection_id ${integer} not null, word ${text} not null,
        primary key (word, collection_id))${pairs}`,
      'create index collection_words_by_collection on collection_words (collection_id)',
      `create table collection_followers (collection_id ${integer} not null, user_id ${integer} not null,
        date_added ${integer} not null, primary key (collection_id, user_id))${pairs}`,
      'create index collection_followers_by_user on collection_followers (user_id, collection_id)',
      `create table collection_ratings (collection_id ${integer} not null, user_id ${integer} not null,
        rating ${integer} not null, date_added ${integer} not null, primary key (collection_id, user_id))${pairs}`,
      `create table collection_rating_days (collection_id ${integer} not null, day ${integer} not null,
        positive ${integer} not null, primary key (collection_id, day))${pairs}`,
    ];
  },
};
