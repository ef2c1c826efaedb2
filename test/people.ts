import { sql } from 'kysely';
import { personalData } from '../src/composition/resources.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { PersonalColumn } from '../src/platform/database/personal.ts';

export interface Column {
  readonly table: string;
  readonly name: string;
  readonly isText: boolean;
  readonly isNullable: boolean;
}

/** The columns of the database as it is. */
export async function columnsOf({ dialect, query }: Database): Promise<Column[]> {
  const rows =
    dialect === 'sqlite'
      ? sql<{ table: string; name: string; type: string; required: number }>`
          select t.name as "table", c.name, lower(c.type) as type, c."notnull" + c.pk as required
          from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite%'`
      : sql<{ table: string; name: string; type: string; required: number }>`
          select table_name as "table", column_name as name, data_type as type,
            case when is_nullable = 'NO' then 1 else 0 end as required
          from information_schema.columns where table_schema = 'public'`;
  return (await rows.execute(query)).rows.map(({ table, name, type, required }) => ({
    table,
    name,
    isText: type === 'text',
    isNullable: Number(required) === 0,
  }));
}

export const DECLARED: readonly PersonalColumn[] = personalData.flatMap(({ columns }) => columns);

/** What a planted row is called where nothing else may stand there. */
const FIXED: Record<string, Record<string, string | number | null>> = {
  // Whoever leads something neither deletes nor gives up their account.
  games: { status: 3 },
  mods: { status: 3 },
  // The same is true of the staff, which nobody is of at no level.
  site_staff: { level: 0 },
  uploads: { handle: null },
  // Asked for long ago, and not ready.
  data_exports: { storage_key: null, date_added: 0 },
  message_members: { status: 1 },
  // No code was asked for yet.
  release_guards: { date_asked: null },
  // In any other epoch than the first their token would be no good.
  access_epochs: { epoch: 0 },
};
/** The account itself is there; the audit log is a chain, into which only the service writes. */
const NOT_PLANTED = ['users', 'audit_log'];

let number = 5_000_000;
const LATER = 10_000_000_000;

export type Planted = Readonly<Record<string, string | number | null>>;

/**
 * Plants a row for a column that names people: a text in every field that says where it stands, and numbers that are
 * nobody's. `like` is a row of somebody else that it is the same as, but for the person.
 */
export async function plantRow(
  db: Database,
  columns: readonly Column[],
  each: PersonalColumn,
  { userId, mark, like, also }: { userId: number; mark: string; like?: Planted; also?: Planted },
): Promise<Planted | undefined> {
  if (NOT_PLANTED.includes(each.table)) return undefined;
  const ofTable = columns.filter(({ table, name }) => table === each.table && name !== 'id');
  const naming = DECLARED.filter(({ table }) => table === each.table).map(({ column }) => column);
  const row: Record<string, string | number | null> = {};
  for (const { name, isText } of ofTable) {
    number += 1;
    // Jobs that forget what is old shall find nothing.
    const value = name.startsWith('date_') ? LATER + number : number;
    row[name] = isText ? JSON.stringify(`${mark}:${each.table}.${each.column}.${name}:${number}`) : value;
    if (like && name !== each.column) row[name] = like[name]!;
  }
  Object.assign(row, FIXED[each.table]);
  if (each.table === 'uploads') row['upload_id'] = `planted-${number}`;
  if (each.table === 'address_bans') row['network'] = `2001:db8::${(number % 65_536).toString(16)}/128`;
  if (naming.includes('resource_id')) row['resource'] = 'mods';
  const [, resource] = /resource = '(\w+)'/.exec(each.where ?? '') ?? [];
  if (resource) row['resource'] = resource;
  Object.assign(row, also);
  row[each.column] = userId;
  const names = Object.keys(row);
  await db.write(({ query }) =>
    sql`insert into ${sql.table(each.table)} (${sql.join(names.map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row).map((value) => sql`${value}`))})`.execute(query),
  );
  return row;
}

/** Where an id stands, as `table.column`. */
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

/** Where a text stands, also as a part of another. */
export async function placesWith(db: Database, columns: readonly Column[], text: string): Promise<string[]> {
  const found: string[] = [];
  for (const column of columns.filter(({ isText }) => isText))
    if ((await textsWith(db, column, text)).length > 0) found.push(`${column.table}.${column.name}`);
  return found.sort();
}

/** Which of the texts that were planted with a mark are still there: `table.column.field`. */
export async function marksOf(db: Database, columns: readonly Column[], mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const column of columns.filter(({ isText }) => isText))
    for (const text of await textsWith(db, column, `${mark}:`)) found.push(text.split(':')[1]!);
  return found.sort();
}

/** New accounts get ids that nothing else has, so that an id found anywhere is that of a person. */
export const setNextUserId = ({ dialect, write }: Database, id: number) =>
  write(({ query }) =>
    (dialect === 'sqlite'
      ? sql`update sqlite_sequence set seq = ${id} where name = 'users'`
      : sql`select setval(pg_get_serial_sequence('users', 'id'), ${id})`
    ).execute(query),
  );
