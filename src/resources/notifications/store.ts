import { type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../database/listing.ts';
import { USER } from '../../database/people.ts';
import type { NotificationsTable } from './table.ts';

export type NotificationRow = Selectable<NotificationsTable>;

const ADD = statement(`insert into notifications
  (user_id, kind, actor_id, resource, resource_id, game_id, comment_id, date_added, is_read)
  select u.id, cast(? as text), cast(? as bigint), cast(? as text), cast(? as bigint), cast(? as bigint),
    cast(? as bigint), cast(? as bigint), 0 from users u where u.id = ?
  and not exists (select 1 from notification_offs o where o.user_id = u.id and o.kind = ?)
  and not exists (select 1 from blocks b where b.user_id = u.id and b.blocked_id = ?)
  and not exists (select 1 from mutes m where m.user_id = u.id and m.muted_id = ?)
  on conflict (user_id, kind, actor_id, resource, resource_id, comment_id) do nothing`);

/** Unless the person does not want to hear of such things, or of whoever did it. */
export const add = (transaction: Transaction, row: Omit<NotificationRow, 'id' | 'is_read'>) =>
  transaction.run(ADD, [
    row.kind,
    row.actor_id,
    row.resource,
    row.resource_id,
    row.game_id,
    row.comment_id,
    row.date_added,
    row.user_id,
    row.kind,
    row.actor_id,
    row.actor_id,
  ]);

/** Those of a person. What is about a comment goes with it. */
const of = (query: Query, userId: number) =>
  query
    .selectFrom('notifications as n')
    .innerJoin('users as u', 'u.id', 'n.actor_id')
    .leftJoin('comments as c', 'c.id', 'n.comment_id')
    .where('n.user_id', '=', userId)
    .where((where) => where.or([where('n.comment_id', '=', 0), where('c.date_deleted', '=', 0)]));

const shown = (query: Query, userId: number) =>
  of(query, userId)
    .select(['n.id as notification_id', 'n.kind', 'n.resource', 'n.resource_id', 'n.game_id', 'n.comment_id'])
    .select(['n.date_added', 'n.is_read'])
    .select(USER);

/** A notification with who did it, whose columns come along under their own names. */
export type StoredNotification = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function list(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(of(query, userId), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const notifications = await paged(narrowed(shown(query, userId), listing, request), listing, request).execute();
  return { notifications, total: Number(total) };
}

export const find = (query: Query, userId: number, id: number): Promise<StoredNotification | undefined> =>
  shown(query, userId).where('n.id', '=', id).executeTakeFirst();

const SET_READ = statement('update notifications set is_read = ? where id = ? and user_id = ?');
export const setRead = (transaction: Transaction, userId: number, id: number, isRead: boolean) =>
  transaction.run(SET_READ, [Number(isRead), id, userId]);

const READ_ALL = statement('update notifications set is_read = 1 where user_id = ? and is_read = 0');
export const readAll = (transaction: Transaction, userId: number) => transaction.run(READ_ALL, [userId]);

const REMOVE = statement('delete from notifications where id = ? and user_id = ? returning id');
/** Returns whether it was there. */
export const remove = async (transaction: Transaction, userId: number, id: number): Promise<boolean> =>
  (await transaction.first(REMOVE, [id, userId])) !== undefined;

const REMOVE_ALL = statement('delete from notifications where user_id = ?');
export const removeAll = (transaction: Transaction, userId: number) => transaction.run(REMOVE_ALL, [userId]);

const OFFS = statement('select kind from notification_offs where user_id = ?');
export async function offsOf(reader: Pick<Database, 'all'>, userId: number): Promise<string[]> {
  return (await reader.all<{ kind: string }>(OFFS, [userId])).map(({ kind }) => kind);
}

const OFF = statement(
  'insert into notification_offs (user_id, kind) values (?, ?) on conflict (user_id, kind) do nothing',
);
const ON = statement('delete from notification_offs where user_id = ? and kind = ?');
export const setWanted = (transaction: Transaction, userId: number, kind: string, isWanted: boolean) =>
  transaction.run(isWanted ? ON : OFF, [userId, kind]);

const REMOVE_OLD = statement(`delete from notifications where id in
  (select id from notifications where date_added < ? limit ?) returning id`);
/** Returns how many they were. */
export const removeSomeBefore = async (transaction: Transaction, second: number, most: number): Promise<number> =>
  (await transaction.all(REMOVE_OLD, [second, most])).length;
