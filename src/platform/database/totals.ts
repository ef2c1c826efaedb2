import { LRUCache } from 'lru-cache';
import type { Changes, Database, Query, Scope } from './database.ts';

interface Kept {
  readonly value: unknown;
  /** `Changes.now()` before the read. */
  readonly asOf: number;
}

const KEPT_MAX = 5_000;
const kept = new WeakMap<Changes, LRUCache<string, Kept>>();

/** An expensive read. */
export interface Question<T> {
  /** The scope that makes the result stale. */
  readonly scope: Scope;
  /** Identifies the read within its scope. */
  readonly asked: unknown;
  readonly find: () => Promise<T>;
}

/** Memoises an expensive read until its scope changes. Concurrent calls share one read. */
export async function memoised<T>(changes: Changes, { scope, asked, find }: Question<T>): Promise<T> {
  const all = kept.get(changes) ?? new LRUCache<string, Kept>({ max: KEPT_MAX });
  kept.set(changes, all);
  const key = JSON.stringify([scope, asked]);
  const known = all.get(key);
  if (known && changes.unchangedSince(known.asOf, scope)) return known.value as T;
  const asOf = changes.now();
  const finding = find();
  all.set(key, { value: finding, asOf });
  try {
    const value = await finding;
    if (all.peek(key)?.value === finding) all.set(key, { value, asOf });
    return value;
  } catch (error) {
    if (all.peek(key)?.value === finding) all.delete(key);
    throw error;
  }
}

export interface Counting extends Pick<Question<number>, 'scope' | 'asked'> {
  /** The approximate number of rows that are searched. */
  readonly among: number;
  readonly count: (query: Query) => Promise<number>;
}

/** Counting fewer rows is as fast as reading a page. */
const WORKER_READ_FROM = 20_000;

/** A total; large tables are counted in a worker. */
export const totalOf = (
  { changes, query, readInWorker }: Pick<Database, 'changes' | 'query' | 'readInWorker'>,
  { scope, asked, among, count }: Counting,
): Promise<number> =>
  memoised(changes, { scope, asked, find: () => count(among < WORKER_READ_FROM ? query : readInWorker) });
