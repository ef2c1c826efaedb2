import { LRUCache } from 'lru-cache';
import type { Changes, Database, Query, Scope } from './database.ts';

interface Kept {
  readonly value: unknown;
  /** `Changes.now()` before it was read. */
  readonly asOf: number;
}

const KEPT_MAX = 5_000;
const kept = new WeakMap<Changes, LRUCache<string, Kept>>();

/** Something that is dear to find out. */
export interface Question<T> {
  /** What makes the answer stale. */
  readonly scope: Scope;
  /** Tells it from others of its scope. */
  readonly asked: unknown;
  readonly find: () => Promise<T>;
}

/**
 * What was found out before, as long as nothing has changed in its scope. Whoever asks while it is being found out waits
 * for the same answer.
 */
export async function remembered<T>(changes: Changes, { scope, asked, find }: Question<T>): Promise<T> {
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
  /** Among how many rows it is looked for. */
  readonly among: number;
  readonly count: (query: Query) => Promise<number>;
}

/** To count among fewer takes no longer than to make a page. */
const WORKER_READ_FROM = 20_000;

/** A total, counted aside where it is looked for among many rows. */
export const totalOf = (
  { changes, query, readInWorker }: Pick<Database, 'changes' | 'query' | 'readInWorker'>,
  { scope, asked, among, count }: Counting,
): Promise<number> =>
  remembered(changes, { scope, asked, find: () => count(among < WORKER_READ_FROM ? query : readInWorker) });
