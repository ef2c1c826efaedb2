import type { Selectable } from 'kysely';
import type { Query } from '../../platform/database/database.ts';
import type { DataExportsTable } from './table.ts';

export type ExportRow = Selectable<DataExportsTable>;

export const latestOf = (query: Query, userId: number): Promise<ExportRow | undefined> =>
  query.selectFrom('data_exports').selectAll().where('user_id', '=', userId).orderBy('id', 'desc').executeTakeFirst();

export const byId = (query: Query, id: number): Promise<ExportRow | undefined> =>
  query.selectFrom('data_exports').selectAll().where('id', '=', id).executeTakeFirst();

export async function add(query: Query, userId: number, date_added: number, date_expires: number): Promise<number> {
  const row = { user_id: userId, date_added, date_expires, storage_key: null, bytes: 0, sha256: '' };
  return (await query.insertInto('data_exports').values(row).returning('id').executeTakeFirstOrThrow()).id;
}

/** Returns false if the export has expired or was cancelled. */
export async function setFile(
  query: Query,
  id: number,
  now: number,
  file: { storage_key: string; bytes: number; sha256: string },
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('data_exports')
    .set(file)
    .where('id', '=', id)
    .where('date_expires', '>', now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const expireOf = (query: Query, userId: number, now: number) =>
  query.updateTable('data_exports').set({ date_expires: now }).where('user_id', '=', userId).execute();

export const expired = (query: Query, before: number): Promise<ExportRow[]> =>
  query.selectFrom('data_exports').selectAll().where('date_expires', '<=', before).execute();

export const remove = (query: Query, id: number) => query.deleteFrom('data_exports').where('id', '=', id).execute();
