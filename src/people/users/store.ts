import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock, withUpdateLock } from '../../platform/database/locks.ts';
import { fold } from '../../platform/database/words.ts';
import type { RememberedBansTable, UsersTable } from './table.ts';

export type UserRow = Selectable<UsersTable>;

const BY_ID = statement('select * from users where id = ?');

export const byId = (db: Database, id: number) => db.first<UserRow>(BY_ID, [id]);

export const rowIn = (transaction: Transaction, id: number) => transaction.first<UserRow>(BY_ID, [id]);

const BY_NAME = statement('select * from users where name_id = ?');

export const byNameId = (db: Database, nameId: string) => db.first<UserRow>(BY_NAME, [nameId]);

const FOR_CHANGE = withUpdateLock(BY_ID);
/** The same with a lock against other changes. */
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<UserRow>(FOR_CHANGE, [id]);

const PORTAL_ACCOUNT = statement('select id from portal_accounts where user_id = ? limit 1');
export const hasPortalAccount = async (transaction: Transaction, id: number): Promise<boolean> =>
  (await transaction.first(PORTAL_ACCOUNT, [id])) !== undefined;

export const byEmail = (query: Query, email: string) =>
  query.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();

export const add = (query: Query, row: Insertable<UsersTable>) =>
  query
    .insertInto('users')
    .values({ ...row, username_folded: fold(row.username) })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Serialises naming, so that two users cannot take look-alike names at the same time. */
export const lockNames = (transaction: Transaction) => takeAdvisoryLock(transaction, 'users/names');

/** The first other user whose name has one of these skeletons. */
export const firstAlike = (query: Query, skeletons: readonly string[], exceptId: number) =>
  query
    .selectFrom('users')
    .select('username')
    .where('username_skeleton', 'in', skeletons)
    .where('username_skeleton', '<>', '')
    .where('status', '<>', 3)
    .where('id', '<>', exceptId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();

const SET_ONLINE = statement('update users set date_online = ? where id = ? and (privacy_options & 1) = 0');
export const setOnline = (transaction: Transaction, id: number, now: number) => transaction.run(SET_ONLINE, [now, id]);

export const setStatus = (query: Query, id: number, status: number) =>
  query.updateTable('users').set({ status }).where('id', '=', id).execute();

export async function nameIdsLike(query: Query, stem: string): Promise<string[]> {
  const rows = await query
    .selectFrom('users')
    .select('name_id')
    .where((eb) => eb.or([eb('name_id', '=', stem), eb('name_id', 'like', `${stem}-%`)]))
    .execute();
  return rows.map((row) => row.name_id);
}

export const change = (query: Query, id: number, changes: Updateable<UsersTable>) =>
  query
    .updateTable('users')
    .set({ ...changes, ...(changes.username !== undefined && { username_folded: fold(changes.username) }) })
    .where('id', '=', id)
    .execute();

export const otherWithNameId = (query: Query, nameId: string, id: number) =>
  query.selectFrom('users').select('id').where('name_id', '=', nameId).where('id', '<>', id).executeTakeFirst();

export const setPortalNames = (query: Query, id: number, portal_names: string) =>
  query.updateTable('users').set({ portal_names }).where('id', '=', id).execute();

export const setEmail = (query: Query, id: number, email: string) =>
  query.updateTable('users').set({ email }).where('id', '=', id).execute();

export const addBan = (query: Query, row: RememberedBansTable) =>
  query
    .insertInto('remembered_bans')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();

const IS_BANNED = statement('select user_id from remembered_bans where digest = ?');
export const isBanned = async (transaction: Transaction, digest: string): Promise<boolean> =>
  (await transaction.first(IS_BANNED, [digest])) !== undefined;

export async function removeBans(query: Query, userId: number): Promise<boolean> {
  const { numDeletedRows } = await query.deleteFrom('remembered_bans').where('user_id', '=', userId).executeTakeFirst();
  return numDeletedRows > 0n;
}
