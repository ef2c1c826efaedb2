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

const MODS = statement(`select count(*) as mods from
  (select 1 as one from mods where game_id = ? and status <> 3 limit ?) as counted`);
/** Counts the mods of a game that are not deleted, up to `most`. */
export const modsOf = async (reader: Pick<Database, 'first'>, gameId: number, most: number): Promise<number> =>
  Number((await reader.first<{ mods: number }>(MODS, [gameId, most]))!.mods);

/** The condition is that of the index, which contains all that is read here. */
const BYTES = statement(`select coalesce(sum(filesize), 0) as bytes from modfiles where game_id = ? and status < 3`);
export const bytesOf = async (reader: Pick<Database, 'first'>, gameId: number): Promise<number> =>
  Number((await reader.first<{ bytes: number }>(BYTES, [gameId]))!.bytes);
