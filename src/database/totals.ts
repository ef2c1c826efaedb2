import { LRUCache } from 'lru-cache';
import type { Changes, Database, Query, Scope } from './database.ts';

interface Total {
  readonly total: number | Promise<number>;
  /** `Changes.now()` before it was counted. */
  readonly asOf: number;
}

/** What is to be counted. */
export interface Counting {
  /** What makes the total stale. */
  readonly scope: Scope;
  /** Tells this total from others of its scope. */
  readonly question: unknown;
  /** Among how many rows it is looked for. */
  readonly among: number;
  readonly count: (query: Query) => Promise<number>;
}

const TOTALS_MAX = 5_000;
/** To count among fewer takes no longer than to make a page. */
const ASIDE_FROM = 20_000;
const kept = new WeakMap<Changes, LRUCache<string, Total>>();

/**
 * A total that was counted before, as long as nothing has changed in its scope; otherwise it is counted, among many
 * rows aside. Whoever asks while it is being counted waits for the same count.
 */
export async function totalOf(
  db: Pick<Database, 'changes' | 'query' | 'aside'>,
  { scope, question, among, count }: Counting,
): Promise<number> {
  const { changes } = db;
  const totals = kept.get(changes) ?? new LRUCache<string, Total>({ max: TOTALS_MAX });
  kept.set(changes, totals);
  const key = JSON.stringify([scope, question]);
  const known = totals.get(key);
  if (known && changes.unchangedSince(known.asOf, scope)) return known.total;
  const asOf = changes.now();
  const counting = count(among < ASIDE_FROM ? db.query : db.aside);
  totals.set(key, { total: counting, asOf });
  try {
    const total = await counting;
    if (totals.peek(key)?.total === counting) totals.set(key, { total, asOf });
    return total;
  } catch (error) {
    if (totals.peek(key)?.total === counting) totals.delete(key);
    throw error;
  }
}
