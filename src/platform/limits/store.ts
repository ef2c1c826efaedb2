import { WINDOW_SLOTS, Window } from './window.ts';

export interface LeaseRequest {
  readonly bucket: string;
  /** The current slot of wall-clock time, which all processes share. */
  readonly slot: number;
  readonly limit: number;
  readonly want: number;
  /** Unspent tokens of an earlier lease, which are counted no longer. */
  readonly unspent: number;
  readonly unspentSlot: number;
}

export interface Lease {
  /** Zero if the bucket is empty. */
  readonly granted: number;
  /** If nothing was granted, the slot in which a token becomes free. */
  readonly freesAt: number;
}

/** Counts the tokens of all processes. A lease is atomic. */
export interface LimitStore {
  lease(request: LeaseRequest): Lease | Promise<Lease>;
  close(): Promise<void>;
}

interface Waiting {
  readonly request: LeaseRequest;
  resolve(lease: Lease): void;
  reject(error: unknown): void;
}

/** More leases would keep others waiting: for their locks, or for the event loop. */
const TOGETHER_MAX = 50;

/** Leases of one turn of the event loop together: a transaction or a statement costs more than a lease. */
export function leasesTogether(
  leaseSome: (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>,
): LimitStore['lease'] {
  const waiting: Waiting[] = [];
  const leaseNext = async () => {
    const some = waiting.splice(0, TOGETHER_MAX);
    if (waiting.length > 0) setImmediate(leaseNext);
    try {
      const leases = await leaseSome(some.map(({ request }) => request));
      for (const [place, { resolve }] of some.entries()) resolve(leases[place]!);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  };
  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(leaseNext);
      waiting.push({ request, resolve, reject });
    });
}

/** The rule of every store. PostgreSQL implements it again, in `schema.ts`. */
export function leaseFrom(window: Window, { slot, limit, want, unspent, unspentSlot }: LeaseRequest): Lease {
  if (unspent > 0) window.returnTokens(unspentSlot, unspent);
  const free = limit - window.taken(slot);
  if (free < 1) return { granted: 0, freesAt: window.freesAt(slot, limit) };
  // At most half of the remaining tokens, so that the last ones do not stay unused in one process.
  const granted = Math.min(want, Math.ceil(free / 2));
  window.add(slot, granted);
  return { granted, freesAt: slot };
}

const STALE_CHECKS = 2;

/** For tests, and for limiters that live in one process. */
export function memoryStore(): LimitStore {
  // In the order of their last lease, so stale ones come first.
  const windows = new Map<string, { window: Window; slot: number }>();
  const forgetStale = (slot: number) => {
    let checks = 0;
    for (const [bucket, last] of windows) {
      if (last.slot > slot - WINDOW_SLOTS || checks === STALE_CHECKS) return;
      windows.delete(bucket);
      checks += 1;
    }
  };
  return {
    lease(request) {
      const window = windows.get(request.bucket)?.window ?? new Window();
      windows.delete(request.bucket);
      windows.set(request.bucket, { window, slot: request.slot });
      forgetStale(request.slot);
      return leaseFrom(window, request);
    },
    close: async () => {},
  };
}
