import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeAdvisoryLock, withUpdateLock } from '../../platform/database/locks.ts';
import { USER } from '../../platform/database/people.ts';
import type { SiteStaffTable } from './table.ts';

const LEVEL = statement('select level from site_staff where user_id = ?');
export const levelOf = async (reader: Pick<Database, 'first'>, userId: number): Promise<number> =>
  (await reader.first<{ level: number }>(LEVEL, [userId]))?.level ?? 0;

const OWNERS_HELD = withUpdateLock(statement('select user_id from site_staff where level >= ? order by user_id'));
/** The members with at least this level, locked on PostgreSQL until the transaction ends. */
export const lockFrom = async (transaction: Transaction, level: number): Promise<number[]> =>
  (await transaction.all<{ user_id: number }>(OWNERS_HELD, [level])).map(({ user_id }) => user_id);

const ANY = statement('select user_id from site_staff limit 1');
export const hasAny = async (reader: Pick<Database, 'first'>): Promise<boolean> =>
  (await reader.first(ANY, [])) !== undefined;

/** Serialises the addition of the first member, which has no row to lock. */
export const lockAll = (transaction: Transaction) => takeAdvisoryLock(transaction, 'staff/first');

/** Returns false for a user who is a member already. */
export const add = async ({ query }: Transaction, row: SiteStaffTable): Promise<boolean> =>
  (await query
    .insertInto('site_staff')
    .values(row)
    .onConflict((key) => key.doNothing())
    .returning('user_id')
    .executeTakeFirst()) !== undefined;

export const setLevel = ({ query }: Transaction, userId: number, level: number) =>
  query.updateTable('site_staff').set({ level }).where('user_id', '=', userId).execute();

export const remove = ({ query }: Transaction, userId: number) =>
  query.deleteFrom('site_staff').where('user_id', '=', userId).execute();

const members = (query: Query) => query.selectFrom('site_staff as s').innerJoin('users as u', 'u.id', 's.user_id');

const shown = (query: Query) => members(query).select(['s.level', 's.added_by', 's.date_added']).select(USER);

export type StaffRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export const member = (query: Query, userId: number) => shown(query).where('s.user_id', '=', userId).executeTakeFirst();

export const all = (query: Query): Promise<StaffRow[]> =>
  shown(query).orderBy('s.level', 'desc').orderBy('s.user_id').execute();

export async function list(query: Query, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(members(query), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows: StaffRow[] = await paged(narrowed(shown(query), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}
