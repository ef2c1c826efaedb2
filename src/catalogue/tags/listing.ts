import type { Column, Listing } from '../../platform/database/listing.ts';

const name: Column = { kind: 'text', sql: 'x.name_folded' };

/** The filters and sorts of lists of a mod's tags. */
export const modTagListing: Listing = {
  from: 't',
  columns: { tag: name, name, date_added: { kind: 'integer', sql: 'x.date_added' } },
  sorts: { tag: 'x.name_folded', name: 'x.name_folded', date_added: 'x.date_added' },
};
