import type { Column, Listing } from '../../platform/database/listing.ts';
import type { CommentedKind } from './kinds.ts';

const integer: Column = { kind: 'integer' };

/** The columns by which lists of comments can be filtered and sorted. For mods the older `mod_id` is supported too. */
export const commentListing = ({ resource }: CommentedKind): Listing => ({
  from: 'c',
  columns: {
    id: integer,
    ...(resource === 'mods' && { mod_id: { kind: 'integer' as const, sql: 'c.resource_id' } }),
    resource_id: integer,
    submitted_by: integer,
    date_added: integer,
    reply_id: integer,
    thread_position: { kind: 'text' },
    karma: integer,
    options: integer,
    content: { kind: 'text', sql: 'c.markup_folded' },
  },
  sorts: {
    id: 'c.id',
    submitted_by: 'c.submitted_by',
    date_added: 'c.date_added',
    reply_id: 'c.reply_id',
    thread_position: 'c.thread_order',
    karma: 'c.karma',
  },
});
