import { type Selectable, sql } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { RatingsTable } from './table.ts';

export type RatingRow = Selectable<RatingsTable>;
export type Rated = Pick<RatingRow, 'user_id' | 'resource' | 'resource_id'>;

const HELD = statement('select rating from ratings where user_id = ? and resource = ? and resource_id = ?');
/** 1, -1, or 0 for none. */
export async function ratingOf(transaction: Transaction, { user_id, resource, resource_id }: Rated): Promise<number> {
  return (await transaction.first<{ rating: number }>(HELD, [user_id, resource, resource_id]))?.rating ?? 0;
}

const PUT = statement(`insert into ratings (user_id, game_id, resource, resource_id, rating, date_added)
  values (?, ?, ?, ?, ?, ?) on conflict (user_id, resource, resource_id)
  do update set rating = excluded.rating, date_added = excluded.date_added`);
export const put = (transaction: Transaction, row: Omit<RatingRow, 'id'>) =>
  transaction.run(PUT, [row.user_id, row.game_id, row.resource, row.resource_id, row.rating, row.date_added]);

const REMOVE = statement('delete from ratings where user_id = ? and resource = ? and resource_id = ?');
export const remove = (transaction: Transaction, { user_id, resource, resource_id }: Rated) =>
  transaction.run(REMOVE, [user_id, resource, resource_id]);

const REMOVE_SOME = statement(`delete from ratings where id in
  (select id from ratings where resource = ? and resource_id = ? limit ?) returning id`);
/** Returns how many were removed. */
export async function removeSome(transaction: Transaction, resource: string, resourceId: number, most: number) {
  return (await transaction.all(REMOVE_SOME, [resource, resourceId, most])).length;
}

/** The user’s ratings, without those of deleted mods. */
export async function listOf(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const all = query.selectFrom('ratings as r').where('r.user_id', '=', userId);
  const shown = all.where(
    sql<boolean>`not (r.resource = 'mods' and exists (select 1 from mods m where m.id = r.resource_id and m.status = 3))`,
  );
  const { total } = await narrowed(shown, listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const ratings: RatingRow[] = await paged(
    narrowed(shown.selectAll('r'), listing, request),
    listing,
    request,
  ).execute();
  return { ratings, total: Number(total) };
}

const SOME_OF = statement('select * from ratings where user_id = ? order by resource, resource_id limit ?');
export const someOf = (transaction: Transaction, userId: number, most: number) =>
  transaction.all<RatingRow>(SOME_OF, [userId, most]);

const MOVE = statement('update ratings set user_id = ? where id = ?');
export const move = (transaction: Transaction, id: number, to: number) => transaction.run(MOVE, [to, id]);
