import { sql } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Tables,
  type Transaction,
  type Value,
} from './database.ts';

/** A transaction that writes a great many rows. */
export interface Bulk {
  readonly transaction: Transaction;
  readonly dialect: Database['dialect'];
}

const inserts = new Map<string, Statement>();

/** Inserts rows with the same columns: one by one on SQLite, where a call is cheap, and all at once on PostgreSQL. */
export async function insertMany(
  { transaction, dialect }: Bulk,
  table: keyof Tables,
  rows: readonly object[],
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first);
  const insert = insertInto(table, columns);
  if (dialect === 'postgres') return transaction.run(insert, [JSON.stringify(rows)]);
  // SQLite is synchronous here, and awaiting a million rows would cost more than writing them.
  for (const row of rows) void transaction.run(insert, Object.values(row) as Value[]);
}

function insertInto(table: keyof Tables, columns: readonly string[]): Statement {
  const names = columns.join(', ');
  const known = inserts.get(`${table} ${names}`);
  if (known) return known;
  const begin = `insert into ${table} (${names})`;
  const insert = {
    ...statement(`${begin} values (${columns.map(() => '?').join(', ')})`),
    postgres: `${begin} select ${names} from json_populate_recordset(null::${table}, $1::json)`,
  };
  inserts.set(`${table} ${names}`, insert);
  return insert;
}

/** Explicit ids do not advance a PostgreSQL sequence. */
export async function countIdsOn({ transaction, dialect }: Bulk, table: keyof Tables): Promise<void> {
  if (dialect === 'postgres')
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'), (select max(id) from ${sql.table(table)}))`.execute(
      transaction.query,
    );
}

const CACHE_KIBIBYTES = 1_048_576;

/**
 * Building an index afterwards is many times faster than growing it. Other readers see the old tables until the commit.
 */
export async function withoutIndexes(bulk: Bulk, tables: readonly (keyof Tables)[], work: () => Promise<void>) {
  const { query } = bulk.transaction;
  if (bulk.dialect === 'postgres') await sql`set local statement_timeout = 0`.execute(query);
  else await sql.raw(`pragma cache_size = -${CACHE_KIBIBYTES}`).execute(query);
  const indexes = await indexesOf(bulk.dialect, query, tables);
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(query);
  await work();
  for (const { definition } of indexes) await sql.raw(definition).execute(query);
}

interface Index {
  readonly name: string;
  readonly definition: string;
}

async function indexesOf(dialect: Database['dialect'], query: Query, tables: readonly string[]): Promise<Index[]> {
  const read =
    dialect === 'sqlite'
      ? sql<Index>`select name, sql as definition from sqlite_master
          where type = 'index' and sql is not null and tbl_name in (${sql.join(tables)})`
      : sql<Index>`select indexname as name, indexdef as definition from pg_indexes
          where schemaname = current_schema() and tablename in (${sql.join(tables)})
            and indexname not in (select conname from pg_constraint)`;
  return (await read.execute(query)).rows;
}

type ColumnType = 'bigint' | 'double precision' | 'text';

/** Updates columns of many rows, each to its own values. Its parameter is a JSON array of objects with an `id`. */
export function updateMany(
  table: keyof Tables,
  { key = 'id', columns }: { readonly key?: string; readonly columns: Readonly<Record<string, ColumnType>> },
): Statement {
  const names = Object.keys(columns);
  const set = names.map((name) => `${name} = r.${name}`).join(', ');
  const extracted = ['id', ...names].map((name) => `json_extract(value, '$.${name}') as ${name}`).join(', ');
  const typed = Object.entries({ id: 'bigint', ...columns }).map(([name, type]) => `${name} ${type}`);
  const isOther = names.map((name) => `${table}.${name} <> r.${name}`).join(' or ');
  const where = `where ${table}.${key} = r.id and (${isOther})`;
  return {
    text: `update ${table} set ${set} from (select ${extracted} from json_each(?)) r ${where}`,
    postgres: `update ${table} set ${set} from json_to_recordset($1::json) as r (${typed.join(', ')}) ${where}`,
  };
}

/** The number of queued rows that one transaction takes. SQLite works on the event loop: 200 mods take 23 ms of it. */
export const takenAtOnce = ({ dialect }: Pick<Database, 'dialect'>): number => (dialect === 'sqlite' ? 200 : 2_000);
