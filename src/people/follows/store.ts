import { sql } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import type { FollowsTable } from './table.ts';

const PUT = statement(`insert into follows (user_id, followed_id, date_added) values (?, ?, ?)
  on conflict (user_id, followed_id) do nothing returning user_id`);
/** Returns whether the follow is new. */
export const put = async (transaction: Transaction, { user_id, followed_id, date_added }: FollowsTable) =>
  (await transaction.first(PUT, [user_id, followed_id, date_added])) !== undefined;

const REMOVE = statement('delete from follows where user_id = ? and followed_id = ? returning user_id');
/** Returns whether there was a follow. */
export const remove = async (transaction: Transaction, userId: number, followedId: number): Promise<boolean> =>
  (await transaction.first(REMOVE, [userId, followedId])) !== undefined;

const REMOVE_BLOCKED = statement(`delete from follows where (user_id = ? or followed_id = ?) and exists
  (select 1 from blocks b where (b.user_id = follows.user_id and b.blocked_id = follows.followed_id)
    or (b.user_id = follows.followed_id and b.blocked_id = follows.user_id))`);
export const removeBlocked = (transaction: Transaction, userId: number) =>
  transaction.run(REMOVE_BLOCKED, [userId, userId]);

/** The column of the listed users, and that of the user whose list it is. */
const SIDES = {
  followers: { listed: 'f.user_id', of: 'f.followed_id' },
  following: { listed: 'f.followed_id', of: 'f.user_id' },
} as const;
export type Side = keyof typeof SIDES;

/** The followers of a user, or those they follow, without deleted, banned and (by the reader) muted users. */
export async function list(
  query: Query,
  { side, userId, muterId }: { side: Side; userId: number; muterId: number | undefined },
  listing: Listing,
  request: ListRequest,
) {
  const { listed, of } = SIDES[side];
  const people = () =>
    narrowed(
      query
        .selectFrom('users as u')
        .innerJoin('follows as f', listed, 'u.id')
        .where(of, '=', userId)
        .where('u.status', 'not in', [3, 4])
        .$if(muterId !== undefined, (all) => all.where(isNotMutedBy(muterId!, 'u.id'))),
      listing,
      request,
    );
  const { total } = await people().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const users = await paged(people().selectAll('u'), listing, request).execute();
  return { users, total: Number(total) };
}
