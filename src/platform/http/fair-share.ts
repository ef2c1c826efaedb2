import type { Database } from '../database/database.ts';
import { type ListRequest, mayScan } from '../database/listing.ts';
import { ApiError } from '../errors/catalogue.ts';
import { Places } from '../runtime/places.ts';
import { limitedAddress } from './address.ts';
import type { AnyInput } from './input.ts';
import { type AnyOperation, isEventStream, isStoredFile } from './operation.ts';

type Release = () => void;

export interface FairShareLimits {
  /** Requests of one address that run at once. */
  readonly perAddress: number;
  /** Requests of all addresses that run at once. */
  readonly inAll: number;
  /** Requests of one address that may wait; the next one is refused with 429, because the address itself is the cause. */
  readonly waitingPerAddress: number;
  /** Requests of all addresses that may wait for each other; the next one is refused with 503. */
  readonly waitingInAll: number;
}

const WAITING = { waitingPerAddress: 256, waitingInAll: 256 };
const RETRY = { retryAfterSeconds: 1 };

/**
 * Limits how many requests use a shared resource, such as database connections, at once, for each address and in all. An
 * address beyond its share waits for its own requests first, so it has few places in the common queue. Queues are bounded:
 * a client would rather be refused than wait for seconds.
 */
export class FairShare {
  readonly #limits: FairShareLimits;
  readonly #addresses = new Map<string, Places>();
  readonly #all: Places;

  constructor(limits: FairShareLimits) {
    this.#limits = limits;
    this.#all = new Places(limits.inAll);
  }

  /** The refusal of a request from this address, if the queues are full. */
  refusal(address: string): ApiError | undefined {
    if ((this.#addresses.get(address)?.waiting ?? 0) >= this.#limits.waitingPerAddress)
      return new ApiError('RATE_LIMITED', RETRY);
    if (this.#all.waiting >= this.#limits.waitingInAll) return new ApiError('UNEXPECTED_SERVICE_OUTAGE', RETRY);
    return undefined;
  }

  /**
   * Resolves when the address may proceed. The caller must call the result when done. Writes may wait for other services,
   * so they take no place that reads wait for.
   */
  async acquire(address: string, isRead: boolean): Promise<Release> {
    const own = this.#addresses.get(address) ?? new Places(this.#limits.perAddress);
    this.#addresses.set(address, own);
    await own.take();
    if (isRead) await this.#all.take();
    return () => {
      if (isRead) this.#all.leave();
      own.leave();
      if (own.isEmpty) this.#addresses.delete(address);
    };
  }
}

const REFUSALS_PER_TICK = 25;
const REFUSAL_TICK_MS = 50;

/**
 * Sends refusals at a limited rate, five hundred per second. Many clients repeat a refused request at once, and refusing
 * them as fast as they ask would take the processor time of the requests that are served.
 */
export class PacedRefusals {
  readonly #waiting: (() => void)[] = [];
  #left = REFUSALS_PER_TICK;
  #timer: NodeJS.Timeout | undefined;

  /** Resolves when the next refusal may be sent. */
  next(): Promise<void> {
    this.#timer ??= setInterval(() => this.#tick(), REFUSAL_TICK_MS).unref();
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left -= 1;
    return Promise.resolve();
  }

  #tick(): void {
    const released = this.#waiting.splice(0, REFUSALS_PER_TICK);
    this.#left = REFUSALS_PER_TICK - released.length;
    for (const release of released) release();
    if (released.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const refusals = new PacedRefusals();

const shares = new WeakMap<Database, FairShare>();

/** One address gets at most half of the database's concurrency; a few more requests than that keep it busy. */
function fairShareOf(db: Database): FairShare {
  const { readConcurrency } = db;
  const perAddress = Math.max(1, Math.floor(readConcurrency / 2));
  const known = shares.get(db) ?? new FairShare({ perAddress, inAll: 2 * readConcurrency, ...WAITING });
  shares.set(db, known);
  return known;
}

/**
 * True when the operation may occupy a database connection for long. Transfers last as long as their clients and
 * sign-ins as long as external platforms, so neither may hold a slot.
 */
function mayUseConnection({ dialect }: Database, { declaration }: AnyOperation): boolean {
  const { returns, files, raw, access, list } = declaration;
  if (files || raw || isStoredFile(returns) || isEventStream(returns) || access.kind === 'authentication') return false;
  return dialect === 'postgres' || list !== undefined;
}

/** On SQLite only scans take long. */
const usesConnection = (db: Database, operation: AnyOperation, list: ListRequest): boolean =>
  mayUseConnection(db, operation) && (db.dialect === 'postgres' || mayScan(operation.declaration.list!, list));

/** Throws when the queues are full, before the request costs more than this. */
export function requirePlace(db: Database, operation: AnyOperation, ip: string): Promise<never> | undefined {
  if (!mayUseConnection(db, operation)) return undefined;
  const refusal = fairShareOf(db).refusal(limitedAddress(ip));
  return refusal && refusals.next().then(() => Promise.reject(refusal));
}

/** Runs the work once the address is within its share, unless the client has disconnected meanwhile. */
export function withFairShare<T>(
  db: Database,
  operation: AnyOperation,
  { list, ip }: Pick<AnyInput, 'list' | 'ip'>,
  isGone: () => boolean,
  work: () => T | Promise<T>,
): T | Promise<T> {
  if (!usesConnection(db, operation, list)) return work();
  const isRead = operation.declaration.method === 'GET';
  return afterAcquiring(fairShareOf(db).acquire(limitedAddress(ip), isRead), isGone, work);
}

async function afterAcquiring<T>(
  acquiring: Promise<Release>,
  isGone: () => boolean,
  work: () => T | Promise<T>,
): Promise<T> {
  const release = await acquiring;
  try {
    if (isGone()) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE', RETRY);
    return await work();
  } finally {
    release();
  }
}
