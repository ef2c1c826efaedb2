import { type Database, type Statement, statement, type Tables, type Value } from './database.ts';

const AT_ONCE = 500;

/** Deletes some of the rows that meet the condition, which has one `?` for each value. */
export function someOf(table: keyof Tables, key: readonly string[], condition: string): Statement {
  const columns = key.join(', ');
  return statement(`delete from ${table} where (${columns}) in
    (select ${columns} from ${table} where ${condition} limit ${AT_ONCE}) returning 1 as removed`);
}

/**
 * Deletes the rows of a queue whose ids the query selects, and returns columns of them. PostgreSQL may know the queue as
 * empty, because it was when it was last analyzed, and would compare each row with each id of a join.
 */
export function takeFrom(queue: keyof Tables, ids: string, columns: string): Statement {
  const where = (condition: string) => `delete from ${queue} where ${condition} returning ${columns}`;
  return statement(where(`id in (${ids})`), where(`id = any(array(${ids}))`));
}

/** Deletes all of them in small transactions, because writers wait during each. */
export async function removeInSteps(db: Database, some: Statement, values: readonly Value[]): Promise<void> {
  let removed: number;
  do removed = await db.write(async (transaction) => (await transaction.all(some, values)).length);
  while (removed === AT_ONCE);
}
