import { sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';

export async function countMigrations(query: Query): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*) as total from migrations`.execute(query);
  return Number(rows[0]!.total);
}

export async function countJobs(query: Query): Promise<{ waiting: number; running: number; parked: number }> {
  const rows = await query
    .selectFrom('jobs')
    .select(['state', (eb) => eb.fn.countAll<number>().as('total')])
    .groupBy('state')
    .execute();
  const of = (state: string) => Number(rows.find((row) => row.state === state)?.total ?? 0);
  return { waiting: of('waiting'), running: of('running'), parked: of('parked') };
}
