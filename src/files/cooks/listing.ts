import type { Listing } from '../../platform/database/listing.ts';

/** The columns by which lists of cooks can be filtered and sorted. */
export const cookListing: Listing = {
  from: 'c',
  columns: {
    cook_uuid: { kind: 'text', sql: 'c.cook_uuid' },
    mod_id: { kind: 'integer', sql: 'c.mod_id' },
    modfile: { kind: 'integer', sql: 'c.source_id' },
    platform: { kind: 'text', sql: 'c.platform' },
    status: { kind: 'integer', sql: 'c.status' },
    date_added: { kind: 'integer', sql: 'c.date_added' },
    date_updated: { kind: 'integer', sql: 'c.date_updated' },
  },
  sorts: { date_added: 'c.date_added', date_updated: 'c.date_updated', status: 'c.status', modfile: 'c.source_id' },
};
