import type { Migration } from '../../../platform/database/migrate.ts';

/** Where the largest come first by habit, the index runs that way, and `id` beside it still counts up. */
const SORTED = ['date_live', 'date_updated', 'name_folded', 'submitted_by'];
const LARGEST_FIRST = ['visits_today', 'visits_total', 'comments_total'];

export const migration: Migration = {
  name: '2026-11-15-guides',
  up: ({ id, integer, text }) => [
    `create table guides (id ${id}, game_id ${integer} not null, status ${integer} not null, date_live ${integer} not null,
      submitted_by ${integer} not null, date_added ${integer} not null, date_updated ${integer} not null,
      community_options ${integer} not null, withheld ${integer} not null, dmca ${integer} not null,
      visits_today ${integer} not null, visits_total ${integer} not null, comments_total ${integer} not null,
      name_id ${text} not null, name ${text} not null, name_folded ${text} not null, logo ${text},
      summary ${text} not null, description ${text} not null, unique (game_id, name_id))`,
    'create index guides_by_id on guides (game_id, status, id, date_live)',
    ...SORTED.map((column) => `create index guides_by_${column} on guides (game_id, status, ${column}, id)`),
    ...LARGEST_FIRST.map(
      (column) => `create index guides_by_${column} on guides (game_id, status, ${column} desc, id)`,
    ),
    'create index guides_by_logo on guides (logo)',
    `create table guide_tags (guide_id ${integer} not null, name ${text} not null, name_folded ${text} not null,
      date_added ${integer} not null, primary key (guide_id, name_folded))`,
    'create index guide_tags_by_name on guide_tags (name_folded, guide_id)',
    `create table guide_visits (guide_id ${integer} not null, visitor ${text} not null, hour ${integer} not null,
      primary key (guide_id, visitor))`,
    'create index guide_visits_by_hour on guide_visits (hour, guide_id)',
    `create table guide_words (guide_id ${integer} not null, word ${text} not null, primary key (word, guide_id))`,
    'create index guide_words_by_guide on guide_words (guide_id)',
  ],
};
