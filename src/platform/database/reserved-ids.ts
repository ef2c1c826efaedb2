import { type Database, type Statement, statement, type Tables, type Transaction } from './database.ts';

const statements = new Map<keyof Tables, Statement>();

function nextOf(table: keyof Tables): Statement {
  const known = statements.get(table) ?? statement(`select nextval(pg_get_serial_sequence('${table}', 'id')) as id`);
  statements.set(table, known);
  return known;
}

/**
 * The id of a row that is inserted later, so that on PostgreSQL the rows that refer to it leave with it, without a round
 * trip for the id. Null on SQLite, which assigns the id when the row is inserted.
 */
export async function reserveId(
  transaction: Transaction,
  dialect: Database['dialect'],
  table: keyof Tables,
): Promise<number | null> {
  if (dialect === 'sqlite') return null;
  return (await transaction.first<{ id: number }>(nextOf(table), []))!.id;
}

/** Inserts a row whose first column is its reserved id. Returns the id. */
export async function insertReserved(
  transaction: Transaction,
  insert: Statement,
  id: number | null,
  values: readonly (string | number)[],
): Promise<number> {
  if (id === null) return (await transaction.first<{ id: number }>(insert, [id, ...values]))!.id;
  await transaction.run(insert, [id, ...values]);
  return id;
}
