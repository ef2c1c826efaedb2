import { sql } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { MutesTable } from './table.ts';

const PUT = statement(`insert into mutes (user_id, muted_id, date_added) values (?, ?, ?)
  on conflict (user_id, muted_id) do nothing`);

export const put = (transaction: Transaction, { user_id, muted_id, date_added }: MutesTable) =>
  transaction.run(PUT, [user_id, muted_id, date_added]);

const REMOVE = statement('delete from mutes where user_id = ? and muted_id = ?');

export const remove = (transaction: Transaction, userId: number, mutedId: number) =>
  transaction.run(REMOVE, [userId, mutedId]);

const IS_LINKED = statement('select id from portal_accounts where user_id = ? and portal = ? limit 1');
export async function isLinked(transaction: Transaction, userId: number, portal: string): Promise<boolean> {
  return (await transaction.first(IS_LINKED, [userId, portal])) !== undefined;
}

/** Users who can be muted, by their portal ids, including ids that the portal issues per game. */
export async function peopleOn(query: Query, portal: string, gameId: number, ids: readonly string[]) {
  const people = query
    .selectFrom('portal_accounts as a')
    .innerJoin('users as u', 'u.id', 'a.user_id')
    .where('a.portal', '=', portal)
    .where('a.portal_id', 'in', ids)
    .where('a.game_id', 'in', [0, gameId])
    .where('u.status', 'not in', [0, 3])
    .where('u.id', 'not in', query.selectFrom('site_staff').select('user_id'));
  return (await people.select('u.id').distinct().orderBy('u.id').execute()).map(({ id }) => id);
}

/** The users whom a user has muted, without deleted accounts. */
export async function listMuted(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const muted = () =>
    narrowed(
      query
        .selectFrom('users as u')
        .innerJoin('mutes as m', 'm.muted_id', 'u.id')
        .where('m.user_id', '=', userId)
        .where('u.status', '<>', 3),
      listing,
      request,
    );
  const { total } = await muted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const users = await paged(muted().selectAll('u'), listing, request).execute();
  return { users, total: Number(total) };
}
