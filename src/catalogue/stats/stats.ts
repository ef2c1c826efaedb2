import { type Caller, muterOf } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Column, Listing, ListRequest } from '../../platform/database/listing.ts';
import type { Done } from '../../platform/jobs/worker.ts';
import { type Actor, countDownloads, countForMod } from '../../records/metrics/counting.ts';
import { requireGame } from '../games/games.ts';
import { countForGame, gamesWithExpiredStats, refreshGameStats } from '../games/stats.ts';
import { requireMod } from '../mods/access.ts';
import { addToModStats, currentStats, foldModStats, hasPendingCounts, rankMods, STATS_COLUMNS } from '../mods/stats.ts';
import * as store from './store.ts';

type ModNames = { readonly id: number; readonly game_id: number };

const integer = (name: string): Column => ({ kind: 'integer', sql: `s.${name}` });
/** Lists sort by the mod's copies of these columns, because those have indexes. */
const WITH_MOD = ['downloads_today', 'downloads_total', 'subscribers_total', 'ratings_weighted_aggregate'];
const COUNTED = STATS_COLUMNS.filter(
  (name) => name !== 'ratings_weighted_aggregate' && name !== 'ratings_display_text',
);

/** The filters and sorts of lists of stats. */
export const statsListing: Listing = {
  from: 'm',
  columns: {
    mod_id: { kind: 'integer', sql: 'm.id' },
    ...Object.fromEntries(COUNTED.map((name) => [name, integer(name)])),
    ratings_display_text: { kind: 'text', sql: 'lower(s.ratings_display_text)' },
  },
  sorts: {
    mod_id: 'm.id',
    ...Object.fromEntries(COUNTED.map((name) => [name, `s.${name}`])),
    ...Object.fromEntries(WITH_MOD.map((name) => [name, `m.${name}`])),
  },
};

/** In a game without per-platform support, a platform has the stats of the whole game. */
const supported = async (app: App, gameId: number, platform: string | undefined): Promise<string | undefined> =>
  platform !== undefined && (await store.hasPlatforms(app.db, gameId)) ? platform : undefined;

export async function statsOfMod(app: App, caller: Caller, gameId: number, modId: number, platform?: string) {
  await requireMod(app.db, caller, gameId, modId);
  const stats = (await currentStats(app.db, modId))!;
  const on = await supported(app, gameId, platform);
  return on === undefined ? stats : { ...stats, ...(await store.downloadsOn(app.db.query, [modId], on)).get(modId) };
}

/** Lists for a platform are filtered and sorted by the stats of the whole game. */
export async function listStats(app: App, caller: Caller, gameId: number, request: ListRequest, platform?: string) {
  await requireGame(app.db, caller, gameId);
  const on = await supported(app, gameId, platform);
  const scope = { gameId, muterId: muterOf(caller), platform: on };
  const { stats, total } = await store.list(app.db.query, scope, statsListing, request);
  if (on === undefined) return { stats, total };
  const downloads = await store.downloadsOn(
    app.db.query,
    stats.map(({ mod_id }) => mod_id),
    on,
  );
  return { stats: stats.map((each) => ({ ...each, ...downloads.get(each.mod_id) })), total };
}

const HOUR = 3_600;
const DAY_HOURS = 24;

/** Counts downloads. The caller decides whether a repeated download counts. */
export async function countDownload(
  app: App,
  transaction: Transaction,
  mod: ModNames,
  downloads = 1,
  platforms: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const difference = { downloads_today: downloads, downloads_total: downloads };
  await addToModStats(transaction, mod, difference);
  const hour = Math.floor(app.clock.now() / HOUR);
  await store.addToHour(transaction, { mod_id: mod.id, game_id: mod.game_id, hour, downloads });
  for (const [platform, some] of platforms)
    await store.addToPlatformHour(transaction, {
      mod_id: mod.id,
      game_id: mod.game_id,
      hour,
      platform,
      downloads: some,
    });
  await countDownloads(app, transaction, mod, downloads, platforms);
}

/** `subscribers` is 1 for a new subscription, and -1 for one that ended. The actor counts as active. */
export async function countSubscription(
  app: App,
  transaction: Transaction,
  mod: ModNames,
  subscribers: number,
  actor?: Actor,
): Promise<void> {
  await addToModStats(transaction, mod, { subscribers_total: subscribers });
  await countForMod(app, transaction, mod, { subscribers }, { actor });
}

/** A rating that changes from negative to positive counts as 1 and -1. */
export async function countRating(
  app: App,
  transaction: Transaction,
  mod: ModNames,
  { positive = 0, negative = 0 }: { positive?: number; negative?: number },
  actor?: Actor,
): Promise<void> {
  const difference = { ratings_positive: positive, ratings_negative: negative };
  await addToModStats(transaction, mod, difference);
  const counts = { ratings_positive: positive, ratings_negative: negative };
  await countForMod(app, transaction, mod, counts, { actor });
}

/**
 * Adds the counts of the last seconds to the stats of mods and games. Lists, ranks and search follow them from then on.
 */
export async function foldCounts(app: App): Promise<Done> {
  if (!(await hasPendingCounts(app.db))) return {};
  const folding = async (fromMod: number) =>
    app.db.write(async (transaction) => {
      const { games, ...folded } = await foldModStats(app, transaction, fromMod);
      for (const [gameId, change] of [...games].sort(([one], [other]) => one - other))
        await countForGame(transaction, gameId, {
          mods_downloads_today: change.downloads_today,
          mods_downloads_total: change.downloads_total,
          mods_subscribers_total: change.subscribers_total,
        });
      return folded;
    });
  let rows = 0;
  for (let fromMod: number | undefined = 0; fromMod !== undefined; ) {
    const { changes, nextMod } = await folding(fromMod);
    rows += changes;
    fromMod = nextMod;
  }
  return { rows };
}

export { derivedStats, popularity } from '../mods/stats.ts';

/** How long stats are valid, and how often they are refreshed. */
export const STATS_LIFETIME_SECONDS = HOUR;
const GAMES_AT_ONCE = 100;
const MODS_AT_ONCE = 100;

/** Refreshes the ranks and today's downloads of every game whose stats have expired. */
export async function refreshStats(app: App, heartbeat: () => Promise<void> = async () => {}): Promise<void> {
  const next = () => gamesWithExpiredStats(app, GAMES_AT_ONCE);
  for (let games = await next(); games.length > 0; games = await next())
    for (const gameId of games) {
      await removeOldDownloads(app, gameId, heartbeat);
      await foldCounts(app);
      const dateExpires = app.clock.now() + STATS_LIFETIME_SECONDS;
      const total = await store.publicModsOf(app.db.query, gameId);
      await rankMods(app, gameId, { total, dateExpires }, heartbeat);
      await refreshGameStats(app, gameId, dateExpires);
    }
}

/** "Today" is the last 24 whole hours and the one that has begun. */
async function removeOldDownloads(app: App, gameId: number, heartbeat: () => Promise<void>): Promise<void> {
  const before = Math.floor(app.clock.now() / HOUR) - DAY_HOURS;
  const next = () => store.modsWithHoursBefore(app.db, gameId, before, MODS_AT_ONCE);
  for (let mods = await next(); mods.length > 0; mods = await next()) {
    await heartbeat();
    for (const id of mods)
      await app.db.write((transaction) => removeDownloadsBefore(transaction, { id, game_id: gameId }, before));
  }
}

async function removeDownloadsBefore(transaction: Transaction, mod: ModNames, before: number): Promise<void> {
  const downloads = await store.removeHoursBefore(transaction, mod.id, before);
  // Another worker was first.
  if (downloads === 0) return;
  await addToModStats(transaction, mod, { downloads_today: -downloads });
}
