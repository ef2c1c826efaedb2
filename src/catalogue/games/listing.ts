import type { Column, Listing } from '../../platform/database/listing.ts';

const integer: Column = { kind: 'integer' };
const folded = (name: string): Column => ({ kind: 'text', sql: `g.${name}_folded` });

/** The filters and sorts of lists of games. */
export const gameListing: Listing = {
  from: 'g',
  game: 'id',
  columns: {
    id: integer,
    status: integer,
    submitted_by: integer,
    date_added: integer,
    date_updated: integer,
    date_live: integer,
    name: folded('name'),
    name_id: { kind: 'text' },
    summary: folded('summary'),
    instructions_url: folded('instructions_url'),
    ugc_name: folded('ugc_name'),
    presentation_option: integer,
    submission_option: integer,
    curation_option: integer,
    profanity_option: integer,
    dependency_option: integer,
    community_options: integer,
    monetization_options: integer,
    revenue_options: integer,
    api_access_options: integer,
    maturity_options: integer,
  },
  sorts: {
    id: 'g.id',
    status: 'g.status',
    name: 'g.name_folded',
    name_id: 'g.name_id',
    date_added: 'g.date_added',
    date_live: 'g.date_live',
    date_updated: 'g.date_updated',
    submitted_by: 'g.submitted_by',
    downloads_today: 's.mods_downloads_today',
    downloads_total: 's.mods_downloads_total',
    subscribers_total: 's.mods_subscribers_total',
    mods_count_total: 's.mods_count_total',
  },
  words: { table: 'game_words', key: 'game_id' },
  popularity: 's.mods_downloads_total',
};
