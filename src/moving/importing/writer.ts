import { sql } from 'kysely';
import type { Database, Statement, Transaction, Value } from '../../platform/database/database.ts';
import type { Table } from '../tables/schema.ts';
import type { Row } from './rows.ts';

const statements = new Map<string, Statement>();

/** Inserts rows, or replaces those with the same key. Rows without ids are skipped where an equal one exists. */
export async function putRows(
  transaction: Transaction,
  dialect: Database['dialect'],
  table: Table,
  rows: readonly Row[],
  { withIds }: { readonly withIds: boolean },
): Promise<void> {
  if (rows.length === 0) return;
  const write = putStatement(table, withIds);
  const names = columnsOf(table, withIds);
  if (dialect === 'postgres') return transaction.run(write, [JSON.stringify(rows)]);
  // SQLite is synchronous here, and awaiting each row would cost more than writing it.
  for (const row of rows) void transaction.run(write, names.map((name) => row[name]!) as Value[]);
}

const columnsOf = (table: Table, withIds: boolean) =>
  table.columns.map(({ name }) => name).filter((name) => withIds || name !== 'id' || !table.hasId);

function putStatement(table: Table, withIds: boolean): Statement {
  const known = statements.get(`${table.name} ${withIds}`);
  if (known) return known;
  const names = columnsOf(table, withIds);
  const quoted = names.map((name) => `"${name}"`);
  const changed = names
    .filter((name) => !table.primaryKey.includes(name))
    .map((name) => `"${name}" = excluded."${name}"`);
  const isKeyed = table.primaryKey.length > 0 && (withIds || !table.hasId);
  const onConflict = !isKeyed
    ? ' on conflict do nothing'
    : ` on conflict (${table.primaryKey.join(', ')}) do ${changed.length > 0 ? `update set ${changed.join(', ')}` : 'nothing'}`;
  const begin = `insert into ${table.name} (${quoted.join(', ')})`;
  const write = {
    text: `${begin} values (${names.map(() => '?').join(', ')})${onConflict}`,
    postgres: `${begin} select ${quoted.join(', ')} from json_populate_recordset(null::${table.name}, $1::json)${onConflict}`,
  };
  statements.set(`${table.name} ${withIds}`, write);
  return write;
}

/** New ids for rows whose own are taken. */
export async function allocateIds(
  { query }: Transaction,
  dialect: Database['dialect'],
  table: string,
  count: number,
): Promise<number[]> {
  if (count === 0) return [];
  if (dialect === 'postgres') {
    const next = sql<{ id: string }>`select nextval(pg_get_serial_sequence(${table}, 'id')) as id
      from generate_series(1, ${count})`;
    return (await next.execute(query)).rows.map(({ id }) => Number(id));
  }
  const last = await sql<{ id: number | null }>`select seq as id from sqlite_sequence where name = ${table}`.execute(
    query,
  );
  const first = (last.rows[0]?.id ?? 0) + 1;
  await reserveIds({ query }, dialect, table, first + count - 1);
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Ids that the database assigns from now on are larger than this one. */
export async function reserveIds(
  { query }: Pick<Transaction, 'query'>,
  dialect: Database['dialect'],
  table: string,
  last: number,
): Promise<void> {
  if (dialect === 'postgres') {
    const sequence = sql`pg_get_serial_sequence(${table}, 'id')`;
    await sql`select setval(${sequence}, greatest(${last}::bigint, nextval(${sequence}) - 1, 1))`.execute(query);
    return;
  }
  await sql`insert into sqlite_sequence (name, seq) select ${table}, 0
    where not exists (select 1 from sqlite_sequence where name = ${table})`.execute(query);
  await sql`update sqlite_sequence set seq = ${last} where name = ${table} and seq < ${last}`.execute(query);
}

export async function existing({ query }: Transaction, table: string, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const found = sql<{ id: number }>`select id from ${sql.table(table)} where id in (${sql.join(ids)})`;
  return new Set((await found.execute(query)).rows.map(({ id }) => Number(id)));
}
