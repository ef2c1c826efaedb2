import { sql } from 'kysely';
import { personalData } from '../src/composition/resources.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { PersonalColumn } from '../src/platform/database/personal.ts';
import { type Column, FIXED, type InsertedRow, insertRow, nextNumber, plainRow } from './tables.ts';

export const DECLARED: readonly PersonalColumn[] = personalData.flatMap(({ columns }) => columns);

/** The account already exists, and an inserted row would break the hash chain of the audit log. */
const NOT_PLANTED = ['users', 'audit_log'];

/**
 * Inserts a row for a column that names a user. Its texts name their column, and its numbers are unused ids. `like` is a
 * row of another user to copy, except for the user.
 */
export async function insertPersonalRow(
  db: Database,
  columns: readonly Column[],
  each: PersonalColumn,
  { userId, mark, like, also }: { userId: number; mark: string; like?: InsertedRow; also?: InsertedRow },
): Promise<InsertedRow | undefined> {
  if (NOT_PLANTED.includes(each.table)) return undefined;
  const naming = DECLARED.filter(({ table }) => table === each.table).map(({ column }) => column);
  const row = await plainRow(db, columns, each.table, (name, n) =>
    JSON.stringify(`${mark}:${each.table}.${each.column}.${name}:${n}`),
  );
  if (like) for (const name of Object.keys(row)) if (name !== each.column) row[name] = like[name]!;
  Object.assign(row, FIXED[each.table]);
  if (each.table === 'uploads') row['upload_id'] = `inserted-${nextNumber()}`;
  if (each.table === 'address_bans') row['network'] = `2001:db8::${(nextNumber() % 65_536).toString(16)}/128`;
  if (naming.includes('resource_id')) row['resource'] = 'mods';
  const [, resource] = /resource = '(\w+)'/.exec(each.where ?? '') ?? [];
  if (resource) row['resource'] = resource;
  Object.assign(row, also);
  row[each.column] = userId;
  await insertRow(db, each.table, row);
  return row;
}

/** The columns that contain an id, as `table.column`. */
export async function placesOf({ query }: Database, columns: readonly Column[], id: number): Promise<string[]> {
  const found: string[] = [];
  for (const { table, name } of columns.filter(({ isText }) => !isText)) {
    const row = sql`select 1 from ${sql.table(table)} where ${sql.ref(name)} = ${id} limit 1`;
    if ((await row.execute(query)).rows.length > 0) found.push(`${table}.${name}`);
  }
  return found.sort();
}

const textsWith = async ({ query }: Database, { table, name }: Column, text: string): Promise<string[]> => {
  const found = sql<{ text: string }>`select ${sql.ref(name)} as text from ${sql.table(table)}
    where lower(${sql.ref(name)}) like ${`%${text.toLowerCase()}%`}`;
  return (await found.execute(query)).rows.map((row) => row.text);
};

/** The columns that contain a text, also as a substring. */
export async function placesWith(db: Database, columns: readonly Column[], text: string): Promise<string[]> {
  const found: string[] = [];
  for (const column of columns.filter(({ isText }) => isText))
    if ((await textsWith(db, column, text)).length > 0) found.push(`${column.table}.${column.name}`);
  return found.sort();
}

/** The inserted texts with this mark that still exist, as `table.column.field`. */
export async function marksOf(db: Database, columns: readonly Column[], mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const column of columns.filter(({ isText }) => isText))
    for (const text of await textsWith(db, column, `${mark}:`)) found.push(text.split(':')[1]!);
  return found.sort();
}

/** Gives new accounts ids that nothing else has, so that an id found anywhere belongs to a user. */
export const setNextUserId = ({ dialect, write }: Database, id: number) =>
  write(({ query }) =>
    (dialect === 'sqlite'
      ? sql`update sqlite_sequence set seq = ${id} where name = 'users'`
      : sql`select setval(pg_get_serial_sequence('users', 'id'), ${id})`
    ).execute(query),
  );
