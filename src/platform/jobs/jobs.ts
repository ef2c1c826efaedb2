import type { Database, Transaction } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import * as store from './store.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export interface EnqueueOptions {
  /** Unix seconds; defaults to now. */
  readonly runAt?: number;
  /** At most one job of a kind and key waits and one runs; the waiting one starts after the running one. */
  readonly key?: string;
}

export interface Jobs {
  /** Adds a job with the transaction's commit. It runs at least once, so handlers must tolerate a second run. */
  enqueue(transaction: Transaction, kind: string, payload: JsonValue, options?: EnqueueOptions): Promise<void>;
}

export function createJobs({ clock }: { clock: Clock }): Jobs {
  return {
    async enqueue({ query, changed }, kind, payload, { runAt, key } = {}) {
      const now = clock.now();
      await store.add(query, { kind, key: key ?? null, payload: JSON.stringify(payload), due: runAt ?? now, now });
      changed(store.JOBS_SCOPE);
    },
  };
}

/** Changes when jobs are added. */
export const { JOBS_SCOPE } = store;

/** Jobs that failed permanently, oldest first, for an operator to inspect and retry. */
export function parkedJobs(db: Database, limit = 100): Promise<store.ParkedJob[]> {
  return store.listParked(db, limit);
}

/** Requeues a parked job with all attempts. False when there is none. */
export async function retryParked(db: Database, clock: Clock, id: number): Promise<boolean> {
  return store.requeue(db, { id, state: 'parked' }, { due: clock.now(), attempt: 0, error: null });
}

/** What waits to run, and what failed for good. */
export const jobBacklog = (db: Database, clock: Clock): Promise<store.Backlog> => store.backlogOf(db, clock.now());
