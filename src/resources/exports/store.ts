import { type Selectable, sql } from 'kysely';
import type { Query, Tables } from '../../database/database.ts';
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

export const setFile = (query: Query, id: number, file: { storage_key: string; bytes: number; sha256: string }) =>
  query.updateTable('data_exports').set(file).where('id', '=', id).execute();

export const expired = (query: Query, before: number): Promise<ExportRow[]> =>
  query.selectFrom('data_exports').selectAll().where('date_expires', '<=', before).execute();

export const remove = (query: Query, id: number) => query.deleteFrom('data_exports').where('id', '=', id).execute();

/** Rows of one person in a table, and what of them is theirs to read. */
export interface Kept {
  readonly table: keyof Tables;
  readonly person: string;
  readonly columns: readonly string[];
}

/** One page of them, in the order of a column. */
export async function rowsOf(
  query: Query,
  { table, person, columns }: Kept,
  userId: number,
  page: { limit: number; offset: number },
): Promise<Record<string, unknown>[]> {
  const shown = sql.join(columns.map((column) => sql.ref(column)));
  const rows = await sql<Record<string, unknown>>`select ${shown} from ${sql.table(table)}
    where ${sql.ref(person)} = ${userId} order by ${shown} limit ${page.limit} offset ${page.offset}`.execute(query);
  return rows.rows;
}
