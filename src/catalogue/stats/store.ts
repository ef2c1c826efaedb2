import { type Selectable, sql } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import { isLiveOn } from '../../platform/database/platforms.ts';
import type { ModDownloadHoursTable } from './table.ts';

type StatsRow = Selectable<Tables['mod_stats']>;

/**
 * The stats of a game's public mods. The ids of a page come from an index of mods alone where the request allows it.
 */
export async function list(
  query: Query,
  { gameId, muterId, platform }: { gameId: number; muterId: number | undefined; platform?: string | undefined },
  listing: Listing,
  request: ListRequest,
) {
  const shown = () => {
    const all = publicMods(query, gameId, asksStats(request));
    const mods = platform === undefined ? all : all.where(isLiveOn(platform));
    return muterId === undefined ? mods : mods.where(isNotMutedBy(muterId, 'm.submitted_by'));
  };
  const wanted = () => narrowed(shown(), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const ids = (await paged(wanted().select('m.id'), listing, request).execute()).map((row) => row.id);
  const stats = new Map((await statsOfAll(query, ids)).map((row) => [row.mod_id, row]));
  return { stats: ids.flatMap((id) => stats.get(id) ?? []), total: Number(total) };
}

function publicMods(query: Query, gameId: number, withStats: boolean) {
  const mods = query.selectFrom('mods as m').where('m.game_id', '=', gameId);
  const shown = mods.where('m.status', '=', 1).where('m.visible', '=', 1);
  return shown.$if(withStats, (joined) => joined.innerJoin('mod_stats as s', 's.mod_id', 'm.id'));
}

function asksStats({ groups, sort }: ListRequest): boolean {
  const expressions = [sort?.sql, ...groups.flat().map(({ column }) => column.sql)];
  return expressions.some((expression) => expression !== undefined && /\bs\./.test(expression));
}

async function statsOfAll(query: Query, modIds: readonly number[]): Promise<StatsRow[]> {
  if (modIds.length === 0) return [];
  return query.selectFrom('mod_stats').selectAll().where('mod_id', 'in', modIds).execute();
}

const HAS_PLATFORMS = statement('select 1 as found from game_platforms where game_id = ? limit 1');
export const hasPlatforms = async (reader: Pick<Database, 'first'>, gameId: number): Promise<boolean> =>
  (await reader.first(HAS_PLATFORMS, [gameId])) !== undefined;

type Downloads = Pick<StatsRow, 'downloads_today' | 'downloads_total'>;

/** The downloads of mods on a platform, since they are recorded per platform. */
export async function downloadsOn(
  query: Query,
  modIds: readonly number[],
  platform: string,
): Promise<Map<number, Downloads>> {
  if (modIds.length === 0) return new Map();
  const { rows } = await sql<Downloads & { mod_id: number }>`select m.id as mod_id,
      (select coalesce(sum(h.downloads), 0) from mod_platform_download_hours h
        where h.mod_id = m.id and h.platform = ${platform}) as downloads_today,
      (select coalesce(sum(d.downloads), 0) from metrics_platform_mod_months d
        where d.mod_id = m.id and d.platform = ${platform}) as downloads_total
    from mods m where m.id in (${sql.join(modIds)})`.execute(query);
  return new Map(
    rows.map(({ mod_id, downloads_today, downloads_total }) => [
      mod_id,
      { downloads_today: Number(downloads_today), downloads_total: Number(downloads_total) },
    ]),
  );
}

export async function publicModsOf(query: Query, gameId: number): Promise<number> {
  const mods = query.selectFrom('mods').where('game_id', '=', gameId).where('status', '=', 1).where('visible', '=', 1);
  const { total } = await mods.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return Number(total);
}

const ADD_TO_HOUR = statement(`insert into mod_download_hours (mod_id, hour, game_id, downloads) values (?, ?, ?, ?)
  on conflict (mod_id, hour) do update set downloads = mod_download_hours.downloads + excluded.downloads`);
export const addToHour = (transaction: Transaction, { mod_id, hour, game_id, downloads }: ModDownloadHoursTable) =>
  transaction.run(ADD_TO_HOUR, [mod_id, hour, game_id, downloads]);

const ADD_TO_PLATFORM_HOUR =
  statement(`insert into mod_platform_download_hours (mod_id, platform, hour, game_id, downloads) values (?, ?, ?, ?, ?)
  on conflict (mod_id, platform, hour) do update set
    downloads = mod_platform_download_hours.downloads + excluded.downloads`);
export const addToPlatformHour = (
  transaction: Transaction,
  { mod_id, platform, hour, game_id, downloads }: Tables['mod_platform_download_hours'],
) => transaction.run(ADD_TO_PLATFORM_HOUR, [mod_id, platform, hour, game_id, downloads]);

const MODS_OF_HOURS = statement(`select distinct mod_id from mod_download_hours where game_id = ? and hour < ?
  order by mod_id limit ?`);
export async function modsWithHoursBefore(db: Database, gameId: number, hour: number, most: number) {
  return (await db.all<{ mod_id: number }>(MODS_OF_HOURS, [gameId, hour, most])).map((row) => row.mod_id);
}

const TAKE_HOURS = statement('delete from mod_download_hours where mod_id = ? and hour < ? returning downloads');
const FORGET_PLATFORM_HOURS = statement('delete from mod_platform_download_hours where mod_id = ? and hour < ?');
/** Removes a mod's hours before this one, and returns their downloads. */
export async function removeHoursBefore(transaction: Transaction, modId: number, hour: number): Promise<number> {
  const rows = await transaction.all<{ downloads: number }>(TAKE_HOURS, [modId, hour]);
  await transaction.run(FORGET_PLATFORM_HOURS, [modId, hour]);
  return rows.reduce((sum, { downloads }) => sum + downloads, 0);
}
