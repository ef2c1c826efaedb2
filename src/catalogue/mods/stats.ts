import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { invalidateMod } from './documents.ts';
import { modExtensions } from './extensions.ts';
import * as searchStore from './search-store.ts';
import * as statsStore from './stats-store.ts';
import * as store from './store.ts';

export { STATS_COLUMNS } from './table.ts';

/** Stores new stats. They are not part of the documents; those that lists sort by are also columns of the mod. */
export async function changeModStats(
  app: App,
  transaction: Transaction,
  mod: Pick<store.ModRow, 'id' | 'game_id'>,
  { popularity, ...stats }: Partial<Omit<store.ModStats, 'mod_id'>> & { popularity?: number },
): Promise<void> {
  const { downloads_today, downloads_total, subscribers_total, ratings_weighted_aggregate } = stats;
  const sorted = { downloads_today, downloads_total, subscribers_total, ratings_weighted_aggregate, popularity };
  if (Object.values(sorted).some((value) => value !== undefined)) await store.change(transaction, mod.id, sorted);
  if (popularity !== undefined) {
    await searchStore.rankWords(transaction, mod.id, popularity);
    for (const { onPopularityChange } of app.extensions.of(modExtensions))
      await onPopularityChange?.(transaction, mod.id, popularity);
  }
  if (Object.keys(stats).length > 0) await statsStore.putStats(transaction, mod.id, stats);
  invalidateMod(transaction, mod.game_id, mod.id);
}

/** Adds to the counts of a mod and stores the stats derived from them. Concurrent counts of the mod wait. */
export async function addToModStats(
  app: App,
  transaction: Transaction,
  mod: Pick<store.ModRow, 'id' | 'game_id'>,
  difference: Partial<statsStore.ModCounts>,
  derive: (counts: statsStore.ModCounts) => Partial<Omit<store.ModStats, 'mod_id'>> & { popularity?: number },
): Promise<void> {
  const counts = await statsStore.addToStats(transaction, mod.id, difference);
  // The mod was removed meanwhile, and its stats with it.
  if (!counts) return;
  const { downloads_today, downloads_total, subscribers_total } = counts;
  const sorted = { downloads_today, downloads_total, subscribers_total };
  await changeModStats(app, transaction, mod, { ...sorted, ...derive(counts) });
}

const BATCH_SIZE = 500;

/** Ranks the public mods of a game in batches. A mod whose popularity changes meanwhile is right the next time. */
export async function rankMods(
  app: App,
  gameId: number,
  { total, dateExpires, atOnce = BATCH_SIZE }: { total: number; dateExpires: number; atOnce?: number },
  heartbeat: () => Promise<void>,
): Promise<void> {
  let last: { id: number; popularity: number } | undefined;
  for (let first = 1; first === 1 || last; first += atOnce) {
    await heartbeat();
    const mods = await statsStore.popularAfter(app.db.query, gameId, last, atOnce);
    const ids = mods.map(({ id }) => id);
    const ranks = { first, total, dateExpires };
    if (ids.length > 0) await app.db.write(async (transaction) => statsStore.putRanks(transaction, ids, ranks));
    last = mods.length === atOnce ? mods.at(-1) : undefined;
  }
}
