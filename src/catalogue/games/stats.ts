import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { totalOf } from '../../platform/database/totals.ts';
import { invalidateGame, requireGame } from './games.ts';
import * as store from './stats-store.ts';

/** For a platform of a game with per-platform support, the mods and downloads of that platform. */
export async function statsOfGame(app: App, caller: Caller, id: number, platform?: string): Promise<store.StatsRow> {
  await requireGame(app.db, caller, id);
  const stats = (await store.statsOf(app.db.query, id))!;
  if (platform === undefined || !(await store.hasPlatforms(app.db, id))) return stats;
  const mods_count_total = await totalOf(app.db, {
    scope: `games/${id}/mods`,
    asked: ['mods on', platform],
    among: stats.mods_count_total,
    count: (query) => store.countModsOn(query, id, platform),
  });
  return { ...stats, mods_count_total, ...(await store.downloadsOn(app.db, id, platform, app.clock.now())) };
}

/** Counts mods that became public, or ceased to be. */
export async function countPublicMods(transaction: Transaction, gameId: number, difference: number): Promise<void> {
  await store.addToModsCount(transaction, gameId, difference);
  invalidateGame(transaction, gameId);
}

/**
 * Adds to the totals of a game's mods. Cached responses stay valid, because this happens all the time: they show new
 * totals once the stats are refreshed, at `date_expires`.
 */
export const countForGame = (transaction: Transaction, gameId: number, difference: Partial<store.ModTotals>) =>
  store.addToModTotals(transaction, gameId, {
    mods_downloads_today: 0,
    mods_downloads_total: 0,
    mods_subscribers_total: 0,
    ...difference,
  });

export const gamesWithExpiredStats = (app: App, most: number): Promise<number[]> =>
  store.withStatsExpiredBefore(app.db.query, app.clock.now(), most);

/** Stores new averages and the next expiry. Everything in the game that shows stats becomes stale. */
export async function refreshGameStats(app: App, gameId: number, dateExpires: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await store.refreshStats(transaction, gameId, app.clock.now(), dateExpires);
    invalidateGame(transaction, gameId);
  });
}
