import { sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { isLiveOn } from '../../platform/database/platforms.ts';
import type { GameRow } from './store.ts';
import type { GameStatsTable } from './table.ts';

/** The database, or a transaction that must see its own writes. */
type Reader = Pick<Database, 'first'>;

export type StatsRow = GameStatsTable;

export const statsOf = (query: Query, gameId: number) =>
  query.selectFrom('game_stats').selectAll().where('game_id', '=', gameId).executeTakeFirst();

const ADD_TO_MODS_COUNT = statement('update game_stats set mods_count_total = mods_count_total + ? where game_id = ?');
export const addToModsCount = (transaction: Transaction, gameId: number, difference: number) =>
  transaction.run(ADD_TO_MODS_COUNT, [difference, gameId]);

export type ModTotals = Pick<StatsRow, 'mods_downloads_today' | 'mods_downloads_total' | 'mods_subscribers_total'>;

const ADD_TO_MOD_TOTALS = statement(`update game_stats set mods_downloads_today = mods_downloads_today + ?,
  mods_downloads_total = mods_downloads_total + ?, mods_subscribers_total = mods_subscribers_total + ?
  where game_id = ?`);
export const addToModTotals = (transaction: Transaction, gameId: number, difference: ModTotals) => {
  const { mods_downloads_today, mods_downloads_total, mods_subscribers_total } = difference;
  const values = [mods_downloads_today, mods_downloads_total, mods_subscribers_total, gameId];
  return transaction.run(ADD_TO_MOD_TOTALS, values);
};

const HAS_PLATFORMS = statement('select 1 as found from game_platforms where game_id = ? limit 1');
export const hasPlatforms = async (reader: Reader, id: number): Promise<boolean> =>
  (await reader.first(HAS_PLATFORMS, [id])) !== undefined;

export async function countModsOn(query: Query, id: number, platform: string): Promise<number> {
  const mods = query.selectFrom('mods as m').where('m.game_id', '=', id).where('m.status', '=', 1);
  const live = mods.where('m.visible', '=', 1).where(isLiveOn(platform));
  return Number((await live.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()).total);
}

const DOWNLOADS_ON = statement(`select
    (select coalesce(sum(h.downloads), 0) from mod_platform_download_hours h
      where h.game_id = g.id and h.platform = ?) as today,
    (select coalesce(sum(d.downloads), 0) from metrics_platform_months d
      where d.game_id = g.id and d.platform = ?) as total,
    case when g.date_live = 0 or g.date_live + 86400 > ? then 1 else (cast(? as bigint) - g.date_live) / 86400 end as days
  from games g where g.id = ?`);
/** Since downloads are recorded per platform. */
export async function downloadsOn(reader: Reader, id: number, platform: string, now: number) {
  const row = await reader.first<{ today: number; total: number; days: number }>(DOWNLOADS_ON, [
    platform,
    platform,
    now,
    now,
    id,
  ]);
  const [today, total, days] = [Number(row!.today), Number(row!.total), Number(row!.days)];
  return {
    mods_downloads_today: today,
    mods_downloads_total: total,
    mods_downloads_daily_average: Math.floor(total / days),
  };
}

/** Games whose stats expired before this time, the oldest first. */
export async function withStatsExpiredBefore(query: Query, date: number, most: number): Promise<number[]> {
  const expired = query.selectFrom('game_stats').select('game_id').where('date_expires', '<', date);
  return (await expired.orderBy('date_expires').limit(most).execute()).map((row) => row.game_id);
}

const REFRESH_STATS = statement(`update game_stats set date_expires = ?,
  mods_downloads_daily_average = mods_downloads_total
    / (select case when g.date_live = 0 or g.date_live + 86400 > ? then 1
        else (cast(? as bigint) - g.date_live) / 86400 end
       from games g where g.id = game_stats.game_id)
  where game_id = ?`);
/** The daily average covers the days since the game went live; the first one counts as a whole day. */
export const refreshStats = (transaction: Transaction, gameId: number, now: number, dateExpires: number) =>
  transaction.run(REFRESH_STATS, [dateExpires, now, now, gameId]);

export async function addStats(query: Query, { id, date_added }: Pick<GameRow, 'id' | 'date_added'>): Promise<void> {
  await query
    .insertInto('game_stats')
    .values({
      game_id: id,
      mods_count_total: 0,
      mods_downloads_today: 0,
      mods_downloads_total: 0,
      mods_downloads_daily_average: 0,
      mods_subscribers_total: 0,
      date_expires: date_added,
    })
    .execute();
}

/** Gives imported games their row of stats if they have none, and counts their public mods. */
export async function completeStats({ query }: Pick<Transaction, 'query'>, ids: readonly number[]): Promise<void> {
  await sql`insert into game_stats (game_id, mods_count_total, mods_downloads_today, mods_downloads_total,
      mods_downloads_daily_average, mods_subscribers_total, date_expires)
    select g.id, 0, 0, 0, 0, 0, 0 from games g
    where g.id in (${sql.join(ids)}) and not exists (select 1 from game_stats s where s.game_id = g.id)`.execute(query);
  await sql`update game_stats set mods_count_total = (select count(*) from mods m
      where m.game_id = game_stats.game_id and m.status = 1 and m.visible = 1)
    where game_id in (${sql.join(ids)})`.execute(query);
}
