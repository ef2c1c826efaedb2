import { LRUCache } from 'lru-cache';
import type { Changes, Database, Scope } from './database.ts';

interface Total {
  readonly total: number;
  /** `Changes.now()` before it was counted. */
  readonly asOf: number;
}

const TOTALS_MAX = 5_000;
const kept = new WeakMap<Changes, LRUCache<string, Total>>();

/** A total that was counted before, as long as nothing has changed in its scope; otherwise it is counted. */
export async function totalOf(
  { changes }: Pick<Database, 'changes'>,
  scope: Scope,
  question: unknown,
  count: () => Promise<number>,
): Promise<number> {
  const totals = kept.get(changes) ?? new LRUCache<string, Total>({ max: TOTALS_MAX });
  kept.set(changes, totals);
  const key = JSON.stringify([scope, question]);
  const known = totals.get(key);
  if (known && changes.unchangedSince(known.asOf, scope)) return known.total;
  const asOf = changes.now();
  const total = await count();
  totals.set(key, { total, asOf });
  return total;
}
