import { type RawBuilder, sql } from 'kysely';

// Every noun that lists what people made leaves out what their reader has muted; a store can import no other noun.

/** True of rows whose author the reader has muted or blocked. */
export const isMutedBy = (readerId: number, author: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(author)} in (select x.muted_id from mutes x where x.user_id = ${readerId}
    union all select x.blocked_id from blocks x where x.user_id = ${readerId})`;

/** What a list shows of them: nothing. */
export const isNotMutedBy = (readerId: number, author: string): RawBuilder<boolean> =>
  sql<boolean>`not (${isMutedBy(readerId, author)})`;
