import type { App } from '../../platform/app.ts';
import { takenAtOnce } from '../../platform/database/bulk.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { invalidateMod } from './documents.ts';
import { modExtensions } from './extensions.ts';
import { sumBy, withChange } from './pending-stats.ts';
import * as searchStore from './search-store.ts';
import * as statsStore from './stats-store.ts';
import * as store from './store.ts';

export { currentStats, derivedStats, popularity } from './pending-stats.ts';
export { hasChanges as hasPendingCounts } from './stats-store.ts';
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
  if (popularity !== undefined) await changePopularity(app, transaction, [{ id: mod.id, popularity }]);
  if (Object.keys(stats).length > 0) await statsStore.putStats(transaction, mod.id, stats);
  invalidateMod(transaction, mod.game_id, mod.id);
}

async function changePopularity(app: App, transaction: Transaction, mods: readonly store.Ranked[]): Promise<void> {
  await searchStore.rankWords(transaction, mods);
  for (const { onPopularityChange } of app.extensions.of(modExtensions)) await onPopularityChange?.(transaction, mods);
}

/**
 * Appends to the counts of a mod, so that concurrent counts do not wait for each other. `foldModStats` adds them to the
 * stats within seconds; until then the mod itself shows them (`currentStats`), and lists do not.
 */
export async function addToModStats(
  transaction: Transaction,
  mod: Pick<store.ModRow, 'id' | 'game_id'>,
  change: Partial<statsStore.ModCountChange>,
): Promise<void> {
  await statsStore.appendChange(transaction, mod, change);
  transaction.changedHere(`mods/${mod.id}`);
}

/**
 * Adds appended counts to the stats of their mods, and stores what is derived from them. Returns the sums by game and
 * whether there may be more. A lock makes workers take turns, because both would wait for the same mods.
 */
export async function foldModStats(
  app: App,
  transaction: Transaction,
): Promise<{ games: Map<number, statsStore.ModCountChange>; isAll: boolean }> {
  await takeAdvisoryLock(transaction, 'mod_stat_changes');
  const most = takenAtOnce(app.db);
  const changes = await statsStore.takeChanges(transaction, most);
  const mods = sumBy(changes, ({ mod_id }) => mod_id);
  const ids = [...mods.keys()].sort((one, other) => one - other);
  if (ids.length > 0) await foldInto(app, transaction, ids, mods);
  for (const { mod_id, game_id } of changes) invalidateMod(transaction, game_id, mod_id);
  return { games: sumBy(changes, ({ game_id }) => game_id), isAll: changes.length < most };
}

async function foldInto(
  app: App,
  transaction: Transaction,
  ids: readonly number[],
  changes: ReadonlyMap<number, statsStore.ModCountChange>,
): Promise<void> {
  const stats = (await statsStore.lockCounts(transaction, ids)).map(({ mod_id, ...counts }) => ({
    mod_id,
    ...withChange(counts, changes.get(mod_id)!),
  }));
  await statsStore.putFolded(transaction, stats);
  await changePopularity(
    app,
    transaction,
    stats.map(({ mod_id, popularity }) => ({ id: mod_id, popularity })),
  );
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
