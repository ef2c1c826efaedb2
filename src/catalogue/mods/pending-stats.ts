import type { Database } from '../../platform/database/database.ts';
import { displayText, percentagePositive, wilsonLowerBound } from './rating-scores.ts';
import * as statsStore from './stats-store.ts';
import type { ModStats } from './store.ts';

type Change = statsStore.ModCountChange;

export const NO_CHANGE: Change = {
  downloads_today: 0,
  downloads_total: 0,
  subscribers_total: 0,
  ratings_positive: 0,
  ratings_negative: 0,
};

export const isChange = (change: Change): boolean =>
  Object.keys(NO_CHANGE).some((name) => change[name as keyof Change] !== 0);

/** The sums of changes with the same key. */
export function sumBy<T extends Change>(changes: readonly T[], keyOf: (change: T) => number): Map<number, Change> {
  const sums = new Map<number, Change>();
  for (const change of changes) sums.set(keyOf(change), sumOf(sums.get(keyOf(change)) ?? NO_CHANGE, change));
  return sums;
}

const sumOf = (one: Change, other: Change): Change => ({
  downloads_today: one.downloads_today + other.downloads_today,
  downloads_total: one.downloads_total + other.downloads_total,
  subscribers_total: one.subscribers_total + other.subscribers_total,
  ratings_positive: one.ratings_positive + other.ratings_positive,
  ratings_negative: one.ratings_negative + other.ratings_negative,
});

/** The counts after a change, and everything that is derived from them. */
export function withChange(counts: Change, change: Change) {
  const sums = sumOf(counts, change);
  const all = { ...sums, ratings_total: sums.ratings_positive + sums.ratings_negative };
  return { ...all, ...derivedStats(all) };
}

type Stats = Omit<ModStats, 'mod_id'>;

/** The stats of a mod with the counts that are not folded in yet, so that users see what they did. */
export async function currentStats(reader: Pick<Database, 'first'>, modId: number): Promise<ModStats | undefined> {
  const row = await statsStore.statsWithPending(reader, modId);
  return row && withPending(row, row);
}

/** Adds counts that were read with the stats. */
export function withPending<S extends Stats>(stats: S, row: statsStore.PendingRow): S {
  if (row.pending === 0) return stats;
  const { popularity: _, ...changed } = withChange(stats, statsStore.changeIn(row));
  return { ...stats, ...changed };
}

/** The stats that are derived from the counts. */
export function derivedStats(counts: statsStore.ModCounts) {
  const { ratings_positive, ratings_total } = counts;
  return {
    ratings_percentage_positive: percentagePositive(ratings_positive, ratings_total),
    ratings_weighted_aggregate: wilsonLowerBound(ratings_positive, ratings_total),
    ratings_display_text: displayText(ratings_positive, ratings_total),
    popularity: popularity(counts),
  };
}

/** Current use weighs most. Subscribers and ratings decide between mods without downloads today. */
export function popularity(counts: statsStore.ModCounts): number {
  const { downloads_today, subscribers_total, ratings_positive, ratings_total } = counts;
  return downloads_today * 10 + subscribers_total + wilsonLowerBound(ratings_positive, ratings_total) * 10;
}
