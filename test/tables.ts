import { sql } from 'kysely';
import type { Database } from '../src/platform/database/database.ts';

export interface Column {
  readonly table: string;
  readonly name: string;
  readonly isText: boolean;
  readonly isNullable: boolean;
}

/** The columns of the migrated database. */
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

/** A foreign key of the database. */
export interface Key {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  readonly parentColumn: string;
  readonly rule: 'cascade' | 'no action' | 'set null';
}

export async function keysOf({ dialect, query }: Database): Promise<Key[]> {
  const keys =
    dialect === 'sqlite'
      ? sql<Key>`select t.name as "table", k."from" as "column", k."table" as parent, k."to" as "parentColumn",
            lower(k.on_delete) as rule
          from sqlite_master t join pragma_foreign_key_list(t.name) k where t.type = 'table'`
      : sql<Key>`select k.conrelid::regclass::text as "table", a.attname as "column",
            k.confrelid::regclass::text as parent, b.attname as "parentColumn",
            case k.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'no action' end as rule
          from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
            join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[1]
          where k.contype = 'f'`;
  return (await keys.execute(query)).rows;
}

/** Values of inserted rows in columns that accept only certain values. */
export const FIXED: Record<string, Record<string, string | number | null>> = {
  // Another user without special rights.
  users: { status: 1, email: null, avatar: null, portal_names: '{}', date_closed: null, date_locked: null },
  // A leader of a game or mod can neither delete nor merge their account.
  games: { status: 3 },
  mods: { status: 3 },
  // Staff cannot either; a row without a level is not staff.
  site_staff: { level: 0 },
  uploads: { handle: null },
  // An export that was requested long ago and is not ready.
  data_exports: { storage_key: null, date_added: 0 },
  message_members: { status: 1 },
  // No code has been requested yet.
  release_guards: { date_asked: null },
  // In any other epoch the user's token would be invalid.
  access_epochs: { epoch: 0 },
  // An account that is empty, and so moves nothing when its user is merged.
  ledger_accounts: { balance: 0, entries: 0 },
};
let number = 5_000_000;
/** A number that no other inserted value has. */
export const nextNumber = (): number => ++number;
const LATER = 10_000_000_000;

export type InsertedRow = Readonly<Record<string, string | number | null>>;

/** A row to refer to, without any value that tests search for. The game already exists. */
async function parentIn(
  db: Database,
  columns: readonly Column[],
  { parent, parentColumn }: Key,
): Promise<string | number> {
  if (parent !== 'games') return insertParent(db, columns, parent, parentColumn);
  const { rows } = await sql<{ id: number }>`select min(id) as id from games`.execute(db.query);
  return Number(rows[0]!.id);
}

async function insertParent(
  db: Database,
  columns: readonly Column[],
  table: string,
  column: string,
): Promise<string | number> {
  const row = await plainRow(db, columns, table, (name, n) => JSON.stringify(`planted ${name} ${n}`));
  return (await insertRow(db, table, { ...row, ...FIXED[table] }))[column]!;
}

/** A row with unused numbers, texts that name their column, and new parents for foreign keys. */
export async function plainRow(
  db: Database,
  columns: readonly Column[],
  table: string,
  textOf: (name: string, number: number) => string,
): Promise<Record<string, string | number | null>> {
  const keys = (await keysOf(db)).filter((key) => key.table === table);
  const row: Record<string, string | number | null> = {};
  for (const { name, isText } of columns.filter((each) => each.table === table && each.name !== 'id')) {
    const n = nextNumber();
    // Dates in the future, so that clean-up jobs do not delete the row.
    const value = name.startsWith('date_') ? LATER + n : n;
    row[name] = isText ? textOf(name, n) : value;
    const key = keys.find((each) => each.column === name);
    if (key) row[name] = key.parent === table ? null : await parentIn(db, columns, key);
  }
  return row;
}

export async function insertRow(
  db: Database,
  table: string,
  row: InsertedRow,
): Promise<Record<string, string | number>> {
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  const values = sql.join(Object.values(row).map((value) => sql`${value}`));
  const insert = sql<Record<string, string | number>>`insert into ${sql.table(table)} (${names}) values (${values})
    returning *`;
  return (await db.write(({ query }) => insert.execute(query))).rows[0]!;
}
