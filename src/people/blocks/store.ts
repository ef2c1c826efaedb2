import { sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import type { BlocksTable } from './table.ts';

const BLOCK = statement(`select user_id from blocks where user_id = ? and blocked_id = ?
  union all select user_id from blocks where user_id = ? and blocked_id = ?`);
/** Whether one of them has blocked the other. */
export const isBlockedBetween = async (reader: Pick<Database, 'first'>, one: number, other: number): Promise<boolean> =>
  (await reader.first(BLOCK, [one, other, other, one])) !== undefined;

const PUT = statement(`insert into blocks (user_id, blocked_id, date_added) values (?, ?, ?)
  on conflict (user_id, blocked_id) do nothing`);
export const put = (transaction: Transaction, { user_id, blocked_id, date_added }: BlocksTable) =>
  transaction.run(PUT, [user_id, blocked_id, date_added]);

const REMOVE = statement('delete from blocks where user_id = ? and blocked_id = ?');
export const remove = (transaction: Transaction, userId: number, blockedId: number) =>
  transaction.run(REMOVE, [userId, blockedId]);

export const lockPair = (transaction: Transaction, one: number, other: number) =>
  takeAdvisoryLock(transaction, `people/${Math.min(one, other)}/${Math.max(one, other)}`);

/** The users whom a user has blocked, without deleted accounts. */
export async function listBlocked(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const blocked = () =>
    narrowed(
      query
        .selectFrom('users as u')
        .innerJoin('blocks as b', 'b.blocked_id', 'u.id')
        .where('b.user_id', '=', userId)
        .where('u.status', '<>', 3),
      listing,
      request,
    );
  const { total } = await blocked().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const users = await paged(blocked().selectAll('u'), listing, request).execute();
  return { users, total: Number(total) };
}
