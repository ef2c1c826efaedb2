import { type RawBuilder, sql } from 'kysely';

// Shared by all resources that hide muted authors, since a store imports no other resource.

/** True for rows whose author the reader has muted or blocked. */
export const isMutedBy = (readerId: number, author: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(author)} in (select x.muted_id from mutes x where x.user_id = ${readerId}
    union all select x.blocked_id from blocks x where x.user_id = ${readerId})`;

/** The filter for lists. */
export const isNotMutedBy = (readerId: number, author: string): RawBuilder<boolean> =>
  sql<boolean>`not (${isMutedBy(readerId, author)})`;
