import { sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';

export interface StaffState {
  readonly games: number;
  readonly reports: number;
  readonly jobs: { readonly waiting: number; readonly running: number; readonly parked: number };
}

/** Counting more would cost more than the staff gain. */
const COUNTED_MAX = 1_000;

const counted = (from: string) =>
  sql<number>`(select count(*) from (select 1 as one from ${sql.raw(from)} limit ${sql.lit(COUNTED_MAX)}) as counted)`;

/** What waits for the staff, each up to a thousand, by indexes. */
export async function staffState(query: Query): Promise<StaffState> {
  const { rows } = await sql<Record<'games' | 'reports' | 'waiting' | 'running' | 'parked', number>>`select
    ${counted('games where status = 0')} as games,
    ${counted('reports where status = 0')} as reports,
    ${counted(`jobs where state = 'waiting'`)} as waiting,
    ${counted(`jobs where state = 'running'`)} as running,
    ${counted(`jobs where state = 'parked'`)} as parked`.execute(query);
  const { games, reports, waiting, running, parked } = rows[0]!;
  const jobs = { waiting: Number(waiting), running: Number(running), parked: Number(parked) };
  return { games: Number(games), reports: Number(reports), jobs };
}
