import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import type { PlansTable } from './table.ts';

export type PlanRow = PlansTable;

const DEFINED = statement('select * from plans');
export const defined = (reader: Pick<Database, 'all'>) => reader.all<PlanRow>(DEFINED, []);

const OF_GAME = statement('select plan from game_plans where game_id = ?');
export const planOf = async (reader: Pick<Database, 'first'>, gameId: number): Promise<string | undefined> =>
  (await reader.first<{ plan: string }>(OF_GAME, [gameId]))?.plan;

const PUT = statement(`insert into plans (name, mods_max, storage_megabytes_max, may_sell, date_updated)
  values (?, ?, ?, ?, ?) on conflict (name) do update set mods_max = excluded.mods_max,
  storage_megabytes_max = excluded.storage_megabytes_max, may_sell = excluded.may_sell,
  date_updated = excluded.date_updated`);
export const put = (transaction: Transaction, row: PlanRow) =>
  transaction.run(PUT, [row.name, row.mods_max, row.storage_megabytes_max, row.may_sell, row.date_updated]);

const ASSIGN = statement(`insert into game_plans (game_id, plan, date_added) values (?, ?, ?)
  on conflict (game_id) do update set plan = excluded.plan, date_added = excluded.date_added`);
export const assign = (transaction: Transaction, gameId: number, plan: string, date: number) =>
  transaction.run(ASSIGN, [gameId, plan, date]);

const USED = statement(`select coalesce(sum(mods), 0) as mods, coalesce(sum(bytes), 0) as bytes from game_usage
  where game_id = ?`);
/** The number of mods that are not deleted, and the bytes of their files. Triggers of both tables keep it. */
export async function usageOf(reader: Pick<Database, 'first'>, gameId: number) {
  const { mods, bytes } = (await reader.first<{ mods: number; bytes: number }>(USED, [gameId]))!;
  return { mods: Number(mods), bytes: Number(bytes) };
}
