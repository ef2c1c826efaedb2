import { MOD_SORTS } from '../../catalogue/mods/mods.ts';
import type { Column, Listing } from '../../platform/database/listing.ts';
import { CATEGORY_NUMBERS } from './categories.ts';

const integer: Column = { kind: 'integer' };

/** The public mods of the collection `c`, the only ones that count in its statistics. */
const SHOWN_MODS = `from collection_mods x join mods m on m.id = x.mod_id
  where x.collection_id = c.id and m.status = 1 and m.visible = 1`;
const matureBit = (bit: number) => `coalesce(max(m.maturity_option & ${bit}), 0)`;

/** The columns by which lists of collections can be filtered and sorted. */
export const collectionListing: Listing = {
  from: 'c',
  columns: {
    id: integer,
    game_id: integer,
    status: integer,
    visible: integer,
    category: { kind: 'integer', names: CATEGORY_NUMBERS },
    submitted_by: integer,
    submitted_by_display_name: {
      kind: 'text',
      sql: 'u.username_folded',
      within: 'c.submitted_by in (select u.id from users u where',
    },
    date_added: integer,
    date_updated: integer,
    date_live: integer,
    name: { kind: 'text', sql: 'c.name_folded' },
    name_id: { kind: 'text' },
    maturity_option: {
      kind: 'integer',
      sql: `(select ${[1, 2, 4, 8].map(matureBit).join(' + ')} ${SHOWN_MODS})`,
    },
    tags: { kind: 'set', sql: 'select t.collection_id from collection_tags t where t.tag' },
  },
  sorts: {
    id: 'c.id',
    name: 'c.name_folded',
    date_added: 'c.date_added',
    date_live: 'c.date_live',
    date_updated: 'c.date_updated',
    submitted_by: 'c.submitted_by',
    followers_total: 'c.followers_total',
  },
  words: { table: 'collection_words', key: 'collection_id' },
  popularity: 'c.followers_total',
};

const LIVE_SIZE = `coalesce((select f.filesize from mod_live_files l join modfiles f on f.id = l.modfile_id
  where l.mod_id = m.id and l.platform = ''), 0)`;

/** The columns by which the mods of a collection can be filtered and sorted. */
export const collectionModListing: Listing = {
  from: 'm',
  columns: {
    id: integer,
    submitted_by: integer,
    date_added: integer,
    date_updated: integer,
    date_live: integer,
    name: { kind: 'text', sql: 'm.name_folded' },
    name_id: { kind: 'text' },
    maturity_option: integer,
    tags: { kind: 'set', sql: 'select t.mod_id from mod_tags t where t.name_folded' },
  },
  sorts: {
    ...MOD_SORTS,
    filesize: LIVE_SIZE,
    added_to_collection: 'x.place',
  },
};
