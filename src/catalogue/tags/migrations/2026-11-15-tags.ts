import type { Migration } from '../../../platform/database/migrate.ts';

/** The tables of groups and tags came with games, before this noun was one of its own. */
export const migration: Migration = {
  name: '2026-11-15-tags',
  up: ({ integer, text }) => [
    `create table mod_tags (mod_id ${integer} not null, tag_id ${integer} not null, name_folded ${text} not null,
      date_added ${integer} not null, primary key (mod_id, tag_id))`,
    'create index mod_tags_by_tag on mod_tags (tag_id, mod_id)',
    'create index mod_tags_by_name on mod_tags (name_folded, mod_id)',
    `create table game_tag_renames (game_id ${integer} not null primary key, tag_id ${integer} not null,
      name ${text} not null, date_added ${integer} not null)`,
  ],
};
