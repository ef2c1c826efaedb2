import type { App } from '../../platform/app.ts';
import { takenAtOnce } from '../../platform/database/bulk.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { invalidateMod } from './documents.ts';
import { modExtensions } from './extensions.ts';
import { isChange, NO_CHANGE, sumBy, withChange } from './pending-stats.ts';
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

/** What one transaction has folded in. */
interface Folded {
  /** The sums by game. */
  readonly games: ReadonlyMap<number, statsStore.ModCountChange>;
  readonly changes: number;
  /** Where the next transaction goes on, if there may be more. */
  readonly nextMod: number | undefined;
}

/**
 * Adds appended counts to the stats of their mods, and stores what is derived from them. A lock makes workers take turns,
 * because both would wait for the same mods.
 */
export async function foldModStats(app: App, transaction: Transaction, fromMod: number): Promise<Folded> {
  await takeAdvisoryLock(transaction, 'mod_stat_changes');
  const most = takenAtOnce(app.db);
  const changes = await statsStore.takeChanges(transaction, fromMod, most);
  const mods = sumBy(changes, ({ mod_id }) => mod_id);
  const ids = [...mods.keys()].sort((one, other) => one - other);
  await foldInto(
    app,
    transaction,
    ids.filter((id) => isChange(mods.get(id)!)),
    mods,
  );
  const gameOf = new Map(changes.map(({ mod_id, game_id }) => [mod_id, game_id]));
  for (const id of ids) invalidateMod(transaction, gameOf.get(id)!, id);
  const nextMod = changes.length < most ? undefined : ids.at(-1);
  return { games: sumBy(changes, ({ game_id }) => game_id), changes: changes.length, nextMod };
}

async function foldInto(
  app: App,
  transaction: Transaction,
  ids: readonly number[],
  changes: ReadonlyMap<number, statsStore.ModCountChange>,
  leastMove = LEAST_MOVE,
): Promise<void> {
  if (ids.length === 0) return;
  const moved: store.Ranked[] = [];
  const stats = (await statsStore.lockCounts(transaction, ids)).map(({ mod_id, popularity: before, ...counts }) => {
    const { popularity, ...after } = withChange(counts, changes.get(mod_id) ?? NO_CHANGE);
    if (!hasMoved(before, popularity, leastMove)) return { mod_id, ...after, popularity: before };
    moved.push({ id: mod_id, popularity });
    return { mod_id, ...after, popularity };
  });
  await statsStore.putFolded(transaction, stats);
  if (moved.length > 0) await changePopularity(app, transaction, moved);
}

/**
 * The part of its popularity by which a mod has to move before lists, search and tags sort it anew. Smaller moves wait for
 * the next ranks, because every word and tag of the mod repeats its popularity.
 */
const LEAST_MOVE = 0.01;
const hasMoved = (before: number, after: number, least = LEAST_MOVE): boolean =>
  before !== after && Math.abs(after - before) >= least * Math.max(before, after);

const BATCH_SIZE = 500;

/** Lets lists sort the public mods of a game exactly by their counts, where folding left a small difference. */
async function settlePopularity(app: App, gameId: number, atOnce: number, heartbeat: () => Promise<void>) {
  let mods: Awaited<ReturnType<typeof statsStore.popularityAfter>>;
  let last = 0;
  do {
    await heartbeat();
    mods = await statsStore.popularityAfter(app.db, gameId, last, atOnce);
    const drifted = mods.filter((mod) => mod.popularity !== mod.by_counts && !hasMoved(mod.popularity, mod.by_counts));
    const ids = drifted.map(({ id }) => id);
    if (ids.length > 0) await app.db.write((transaction) => foldInto(app, transaction, ids, new Map(), 0));
    last = mods.at(-1)?.id ?? last;
  } while (mods.length === atOnce);
}

/** Ranks the public mods of a game in batches. A mod whose popularity changes meanwhile is right the next time. */
export async function rankMods(
  app: App,
  gameId: number,
  { total, dateExpires, atOnce = BATCH_SIZE }: { total: number; dateExpires: number; atOnce?: number },
  heartbeat: () => Promise<void>,
): Promise<void> {
  await settlePopularity(app, gameId, atOnce, heartbeat);
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
