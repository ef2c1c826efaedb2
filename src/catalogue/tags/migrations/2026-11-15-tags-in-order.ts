import type { Migration } from '../../../platform/database/migrate.ts';

/** Mods of a tag in the order in which they are shown most, and how many have two tags together. */
export const migration: Migration = {
  name: '2026-11-15-tags-in-order',
  up: ({ integer, number }) => [
    `alter table mod_tags add column shown ${integer} not null default 0`,
    `alter table mod_tags add column popularity ${number} not null default 0`,
    `update mod_tags set popularity = (select m.popularity from mods m where m.id = mod_tags.mod_id),
      shown = (select case when m.status = 1 and m.visible = 1 then 1 else 0 end from mods m where m.id = mod_tags.mod_id)`,
    'create index mod_tags_in_order on mod_tags (tag_id, shown, popularity desc, mod_id)',
    'drop index mod_tags_by_name',
    `create table mod_tag_pairs (tag_id ${integer} not null, other_id ${integer} not null, mods_count ${integer} not null,
      primary key (tag_id, other_id))`,
    'create index mod_tag_pairs_by_other on mod_tag_pairs (other_id)',
    `insert into mod_tag_pairs (tag_id, other_id, mods_count)
      select a.tag_id, b.tag_id, count(*) from mod_tags a join mod_tags b on b.mod_id = a.mod_id and b.tag_id > a.tag_id
      where a.shown = 1 group by a.tag_id, b.tag_id`,
  ],
};
