import type { Column, Listing } from '../../platform/database/listing.ts';

const integer: Column = { kind: 'integer' };
const folded = (name: string): Column => ({ kind: 'text', sql: `f.${name}_folded` });

/** The columns by which lists of files can be filtered and sorted. */
export const modfileListing: Listing = {
  from: 'f',
  columns: {
    id: integer,
    game_id: integer,
    mod_id: integer,
    date_added: integer,
    date_scanned: integer,
    virus_status: integer,
    virus_positive: integer,
    filesize: integer,
    filehash: { kind: 'text', sql: 'f.md5' },
    filename: folded('filename'),
    version: folded('version'),
    changelog: folded('changelog'),
    metadata_blob: folded('metadata_blob'),
  },
  sorts: {
    id: 'f.id',
    mod_id: 'f.mod_id',
    date_added: 'f.date_added',
    date_scanned: 'f.date_scanned',
    filesize: 'f.filesize',
    filename: 'f.filename_folded',
    version: 'f.version_folded',
  },
};
