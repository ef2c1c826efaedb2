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
  /** Unix seconds; now unless given. */
  readonly runAt?: number;
  /** While a job of this kind and key waits, another is not added; while one runs, the next waits for its end. */
  readonly key?: string;
}

export interface Jobs {
  /** Adds a job that exists if, and only if, the transaction commits. It runs at least once, hence perhaps twice. */
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

/** The jobs that were given up, oldest first: for an operator to read, and to retry once the reason is gone. */
export function parkedJobs(db: Database, limit = 100): Promise<store.ParkedJob[]> {
  return store.listParked(db, limit);
}

/** Lets a parked job wait again, with all its attempts before it. False when there is no such parked job. */
export async function retryParked(db: Database, clock: Clock, id: number): Promise<boolean> {
  return store.waitAgain(db, { id, state: 'parked' }, { due: clock.now(), attempt: 0, error: null });
}
