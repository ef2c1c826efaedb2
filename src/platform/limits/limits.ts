import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Lease, LeaseRequest, LimitStore } from './store.ts';
import { SLOT_MS, Window } from './window.ts';

/**
 * A bucket that one request is counted against. `Infinity` means no limit; a bucket always has the same `perMinute`.
 */
export interface RateLimitBucket {
  readonly name: string;
  readonly perMinute: number;
}

export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly bucket: RateLimitBucket; readonly retryAfterSeconds: number };

/**
 * Allows at most `perMinute` requests of a bucket in any 60 seconds, over all processes together. A process leases
 * tokens from the store in growing chunks for a slot of five seconds, and returns unspent ones with its next lease;
 * tokens of an ended process stay counted, so processes may together allow slightly less than the limit, never more.
 */
export interface Limiter {
  /** Takes one token from each bucket, or none from any. Synchronous unless the store has to be awaited. */
  take(buckets: readonly RateLimitBucket[]): Verdict | Promise<Verdict>;
  /** The part of `take` that needs no store. Returns false and takes nothing if `take` has to decide. */
  tryTake(buckets: readonly RateLimitBucket[]): boolean;
  close(): Promise<void>;
}

const BUCKETS_MAX = 200_000;
const IDLE_MS = 120_000;
const LEASES_PER_MINUTE = 8;
/** Few callers send a single request. */
const CHUNK_MIN = 2;
const STORE_PATIENCE_MS = 1_000;
const STORE_PAUSE_MS = 1_000;
const COMPLAINT_EVERY_MS = 60_000;

const ALLOWED: Verdict = { allowed: true };

class BucketState {
  /** Unspent tokens, valid in the turn of their lease. */
  tokens = 0;
  turn = -1;
  sharedSlot = 0;
  ownSlot = 0;
  /** True if the store counts all of the tokens, so that unspent ones can be returned to it. */
  shared = true;
  chunk = CHUNK_MIN;
  refusedTurn = -1;
  freesAtMs = 0;
  leasedAtMs = 0;
  leasing: Promise<void> | undefined;
  /** Tokens taken by this process, which limit it while the store is unavailable or the clock jumps. */
  readonly own = new Window();
}

export function createLimiter(parts: { store: LimitStore; clock: Clock; log: Log; bucketsMax?: number }): Limiter {
  return new LeasingLimiter(parts.store, parts.clock, parts.log, parts.bucketsMax ?? BUCKETS_MAX);
}

/**
 * Counts twice: the store in slots of wall-clock time, which all processes share, and this process its own share in
 * slots of monotonic time, so that a clock jump never exceeds the limit. A turn ends when either slot ends.
 */
class LeasingLimiter implements Limiter {
  readonly #store: LimitStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bucketsMax: number;
  /** In the order of their last lease, so idle ones come first. */
  readonly #states = new Map<string, BucketState>();
  /** Aligns both kinds of slots, as long as the wall clock does not jump. */
  readonly #ownOffsetMs: number;
  #turn = 0;
  #sharedSlot = 0;
  #ownSlot = 0;
  #dayFromMs = 0;
  #dayToMs = 0;
  #ownToMs = 0;
  #storeFromMs = Number.NEGATIVE_INFINITY;
  #complaintFromMs = Number.NEGATIVE_INFINITY;

  constructor(store: LimitStore, clock: Clock, log: Log, bucketsMax: number) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#bucketsMax = bucketsMax;
    this.#ownOffsetMs = clock.millis() - clock.monotonicMs();
  }

  tryTake(buckets: readonly RateLimitBucket[]): boolean {
    const turn = this.#currentTurn();
    for (let index = 0; index < buckets.length; index += 1) {
      const { name, perMinute } = buckets[index]!;
      if (perMinute === Number.POSITIVE_INFINITY) continue;
      const state = this.#states.get(name);
      if (state === undefined || state.turn !== turn || state.tokens < 1) {
        this.#putBack(buckets, index);
        return false;
      }
      state.tokens -= 1;
    }
    return true;
  }

  take(buckets: readonly RateLimitBucket[]): Verdict | Promise<Verdict> {
    // Each round either leases a token or is refused, so the loop ends.
    for (;;) {
      if (this.tryTake(buckets)) return ALLOWED;
      const turn = this.#currentTurn();
      const lacking = buckets.filter((bucket, index) => this.#lacks(bucket, buckets, index, turn));
      const leasing: Promise<void>[] = [];
      for (const bucket of lacking) {
        const state = this.#stateOf(bucket.name);
        const wait = this.#lease(state, bucket, turn);
        if (wait) leasing.push(wait);
        if (state.refusedTurn === turn) return this.#refusal(state, bucket);
      }
      if (leasing.length > 0) return Promise.all(leasing).then(() => this.take(buckets));
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#states.values(), (state) => state.leasing));
    this.#states.clear();
    await this.#store.close();
  }

  #putBack(buckets: readonly RateLimitBucket[], count: number): void {
    for (let index = 0; index < count; index += 1) {
      const { name, perMinute } = buckets[index]!;
      if (perMinute !== Number.POSITIVE_INFINITY) this.#states.get(name)!.tokens += 1;
    }
  }

  /** A bucket may be listed twice, and then needs two tokens. */
  #lacks(
    { name, perMinute }: RateLimitBucket,
    buckets: readonly RateLimitBucket[],
    index: number,
    turn: number,
  ): boolean {
    if (perMinute === Number.POSITIVE_INFINITY) return false;
    const state = this.#states.get(name);
    if (state === undefined || state.turn !== turn) return true;
    const needed = buckets.slice(0, index + 1).filter((bucket) => bucket.name === name).length;
    return state.tokens < needed;
  }

  #refusal(state: BucketState, bucket: RateLimitBucket): Verdict {
    const waitMs = state.freesAtMs - this.#clock.monotonicMs();
    return { allowed: false, bucket, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  }

  #currentTurn(): number {
    const dayMs = this.#clock.millis();
    const ownMs = this.#clock.monotonicMs() + this.#ownOffsetMs;
    if (dayMs >= this.#dayToMs || dayMs < this.#dayFromMs || ownMs >= this.#ownToMs) this.#beginTurn(dayMs, ownMs);
    return this.#turn;
  }

  #beginTurn(dayMs: number, ownMs: number): void {
    this.#turn += 1;
    this.#sharedSlot = Math.floor(dayMs / SLOT_MS);
    this.#dayFromMs = this.#sharedSlot * SLOT_MS;
    this.#dayToMs = this.#dayFromMs + SLOT_MS;
    this.#ownSlot = Math.max(this.#ownSlot, Math.floor(ownMs / SLOT_MS));
    this.#ownToMs = (this.#ownSlot + 1) * SLOT_MS;
  }

  #stateOf(name: string): BucketState {
    const known = this.#states.get(name);
    if (known) return known;
    const made = new BucketState();
    this.#states.set(name, made);
    return made;
  }

  /**
   * Leases more tokens, with one request per bucket at a time. Afterwards the bucket has tokens or is refused in this
   * turn.
   */
  #lease(state: BucketState, bucket: RateLimitBucket, turn: number): Promise<void> | undefined {
    if (state.leasing) return state.leasing;
    if (state.refusedTurn === turn) return undefined;
    const unspentSlot = state.sharedSlot;
    const unspent = state.turn === turn ? 0 : this.#enterTurn(state, bucket.name, turn);
    const limit = Math.floor(bucket.perMinute);
    const room = limit - state.own.taken(this.#ownSlot);
    if (!(room >= 1))
      return this.#refuseUntil(state, turn, state.own.freesAt(this.#ownSlot, limit) * SLOT_MS - this.#ownOffsetMs);
    const chunkMax = Math.max(1, Math.floor(limit / LEASES_PER_MINUTE));
    const request = {
      bucket: bucket.name,
      slot: this.#sharedSlot,
      limit,
      want: Math.min(state.chunk, chunkMax, room),
      unspent,
      unspentSlot,
    };
    state.chunk = Math.min(state.chunk * 2, chunkMax);
    return this.#ask(state, turn, request);
  }

  /** Returns the number of unspent tokens of an earlier turn that the store must count no longer. */
  #enterTurn(state: BucketState, name: string, turn: number): number {
    const unspent = state.tokens;
    if (unspent > 0) state.own.returnTokens(state.ownSlot, unspent);
    const known = state.shared ? unspent : 0;
    state.chunk = turn === state.turn + 1 ? Math.max(CHUNK_MIN, state.chunk >> 1) : CHUNK_MIN;
    state.tokens = 0;
    state.turn = turn;
    state.sharedSlot = this.#sharedSlot;
    state.ownSlot = this.#ownSlot;
    state.shared = true;
    state.leasedAtMs = this.#clock.monotonicMs();
    this.#states.delete(name);
    this.#states.set(name, state);
    this.#forgetIdle(state.leasedAtMs);
    return known;
  }

  /** Removes at most two buckets per new one, which spreads the work and lets the map shrink after a flood. */
  #forgetIdle(nowMs: number): void {
    let checks = 0;
    for (const [name, state] of this.#states) {
      if (this.#states.size <= this.#bucketsMax && nowMs - state.leasedAtMs <= IDLE_MS) return;
      this.#states.delete(name);
      checks += 1;
      if (checks === 2) return;
    }
  }

  #ask(state: BucketState, turn: number, request: LeaseRequest): Promise<void> | undefined {
    if (this.#clock.monotonicMs() < this.#storeFromMs) return this.#grantAlone(state, request);
    try {
      const lease = this.#store.lease(request);
      if (!(lease instanceof Promise)) return this.#settle(state, turn, lease);
      state.leasing = within(lease, STORE_PATIENCE_MS)
        .then((granted) => this.#settle(state, turn, granted))
        .catch((error) => this.#storeFailed(state, request, error))
        .finally(() => {
          state.leasing = undefined;
        });
      return state.leasing;
    } catch (error) {
      return this.#storeFailed(state, request, error);
    }
  }

  #settle(state: BucketState, turn: number, { granted, freesAt }: Lease): undefined {
    if (granted < 1)
      return this.#refuseUntil(state, turn, this.#clock.monotonicMs() + freesAt * SLOT_MS - this.#clock.millis());
    state.tokens += granted;
    state.own.add(state.ownSlot, granted);
  }

  /** Cached for the turn, so that a flood of refused requests does not reach the store. */
  #refuseUntil(state: BucketState, turn: number, freesAtMs: number): undefined {
    state.refusedTurn = turn;
    state.freesAtMs = freesAtMs;
  }

  /** Without the store each process enforces the limit by itself: together they allow more, but each is limited. */
  #grantAlone(state: BucketState, { want }: LeaseRequest): undefined {
    state.tokens += want;
    state.shared = false;
    state.own.add(state.ownSlot, want);
  }

  #storeFailed(state: BucketState, request: LeaseRequest, error: unknown): undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#storeFromMs = nowMs + STORE_PAUSE_MS;
    if (nowMs >= this.#complaintFromMs) {
      this.#complaintFromMs = nowMs + COMPLAINT_EVERY_MS;
      this.#log.warn('rate limits hold per process only, as their store failed', { error });
    }
    return this.#grantAlone(state, request);
  }
}

/** A late lease stays counted, but is not used. */
async function within<T>(work: Promise<T>, patienceMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
