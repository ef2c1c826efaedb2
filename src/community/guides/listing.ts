import type { Column, Listing } from '../../platform/database/listing.ts';

const integer: Column = { kind: 'integer' };

/** The columns by which lists of guides can be filtered and sorted. */
export const guideListing: Listing = {
  from: 'r',
  columns: {
    id: integer,
    game_id: integer,
    status: integer,
    submitted_by: integer,
    submitted_by_display_name: { kind: 'text', sql: 'lower(u.username)' },
    date_added: integer,
    date_updated: integer,
    date_live: integer,
    community_options: integer,
    name: { kind: 'text', sql: 'r.name_folded' },
    name_id: { kind: 'text' },
    tags: { kind: 'set', sql: 'select x.guide_id from guide_tags x where x.name_folded' },
  },
  sorts: {
    id: 'r.id',
    name: 'r.name_folded',
    date_added: 'r.date_added',
    date_live: 'r.date_live',
    date_updated: 'r.date_updated',
    submitted_by: 'r.submitted_by',
    visits_today: 'r.visits_today',
    visits_total: 'r.visits_total',
    comments_total: 'r.comments_total',
    popular: 'r.visits_today',
    visits: 'r.visits_total',
    comments: 'r.comments_total',
  },
  // As for mods, the short names sort the largest first.
  largestFirst: ['popular', 'visits', 'comments'],
  indexed: {
    'r.id': 'asc',
    'r.name_folded': 'asc',
    'r.date_live': 'asc',
    'r.date_updated': 'asc',
    'r.submitted_by': 'asc',
    'r.visits_today': 'desc',
    'r.visits_total': 'desc',
    'r.comments_total': 'desc',
  },
  words: { table: 'guide_words', key: 'guide_id' },
};
