import type { Column, Filter, Listing } from '../../platform/database/listing.ts';

const integer: Column = { kind: 'integer' };
const folded = (name: string): Column => ({ kind: 'text', sql: `m.${name}_folded` });

// 0 free, 1 paid; with 2 and 3 both.
const revenueType: Column = { kind: 'integer', sql: '(case when m.price > 0 then 1 else 0 end)', anything: [2, 3] };
/** The filter for mods that cost nothing. */
export const FREE: Filter = { column: { ...revenueType, name: 'revenue_type' }, operator: 'eq', values: [0] };

/** The sorts of every list of mods, whatever else it joins. */
export const MOD_SORTS = {
  id: 'm.id',
  name: 'm.name_folded',
  date_added: 'm.date_added',
  date_live: 'm.date_live',
  date_updated: 'm.date_updated',
  submitted_by: 'm.submitted_by',
  downloads_today: 'm.downloads_today',
  downloads_total: 'm.downloads_total',
  subscribers_total: 'm.subscribers_total',
  ratings_weighted_aggregate: 'm.ratings_weighted_aggregate',
} as const;

/** The filters and sorts of lists of mods. */
export const modListing: Listing = {
  from: 'm',
  columns: {
    id: integer,
    game_id: integer,
    status: integer,
    visible: integer,
    submitted_by: integer,
    submitted_by_display_name: {
      kind: 'text',
      sql: 'u.username_folded',
      within: 'm.submitted_by in (select u.id from users u where',
    },
    date_added: integer,
    date_updated: integer,
    date_live: integer,
    community_options: integer,
    maturity_option: integer,
    monetization_options: integer,
    credit_options: integer,
    revenue_type: revenueType,
    stock: integer,
    price: integer,
    name: folded('name'),
    name_id: { kind: 'text' },
    metadata_blob: folded('metadata_blob'),
    modfile: {
      kind: 'integer',
      sql: "coalesce((select l.modfile_id from mod_live_files l where l.mod_id = m.id and l.platform = ''), 0)",
    },
    tags: {
      kind: 'set',
      sql: 'select x.mod_id from mod_tags x where x.name_folded',
      probe: 'select 1 from mod_tags x where x.mod_id = m.id and x.name_folded',
    },
    metadata_kvp: {
      kind: 'set',
      sql: 'select d.mod_id from mod_metadata d where d.pair',
      exact: true,
      probe: 'select 1 from mod_metadata d where d.mod_id = m.id and d.pair',
    },
  },
  sorts: {
    ...MOD_SORTS,
    popular: 'm.popularity',
    downloads: 'm.downloads_total',
    rating: 'm.ratings_weighted_aggregate',
    subscribers: 'm.subscribers_total',
  },
  // The older names sort descending, as clients that send them expect.
  largestFirst: ['popular', 'downloads', 'rating', 'subscribers'],
  // The directions of the indexes in the schema.
  indexed: {
    'm.id': 'asc',
    'm.name_folded': 'asc',
    'm.date_added': 'asc',
    'm.date_live': 'asc',
    'm.date_updated': 'asc',
    'm.submitted_by': 'asc',
    'm.downloads_today': 'desc',
    'm.downloads_total': 'desc',
    'm.subscribers_total': 'desc',
    'm.ratings_weighted_aggregate': 'desc',
    'm.popularity': 'desc',
  },
  words: { table: 'mod_words', key: 'mod_id' },
  popularity: 'm.popularity',
};
