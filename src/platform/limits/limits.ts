import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Lease, LeaseRequest, LimitStore } from './store.ts';
import { SLOT_MS, Window } from './window.ts';

/** One request counted against a bucket. `Infinity` means no limit; a bucket always has the same `perMinute`. */
export interface RateLimitBucket {
  readonly bucket: string;
  readonly perMinute: number;
}

export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly demand: RateLimitBucket; readonly retryAfterSeconds: number };

/**
 * In any 60 seconds at most `perMinute` requests of a bucket are allowed, over all processes together.
 *
 * A process leases tokens from the store in growing chunks and spends them in the slot of five seconds in which it
 * leased them, so that the store is asked once per chunk. What it did not spend goes back with the next lease of
 * the bucket; until then it stays counted, as it does for good when the process ends. So several processes may
 * together allow a little less than the limit, never more.
 */
export interface Limiter {
  /** Takes one token for each demand, or none for any. Synchronous when no store has to be waited for. */
  take(demands: readonly RateLimitBucket[]): Verdict | Promise<Verdict>;
  /** The part of `take` that needs no store: false, and nothing taken, when `take` has to decide. */
  tryTake(demands: readonly RateLimitBucket[]): boolean;
  close(): Promise<void>;
}

const BUCKETS_MAX = 200_000;
const IDLE_MS = 120_000;
const LEASES_PER_MINUTE = 8;
const STORE_PATIENCE_MS = 1_000;
const STORE_PAUSE_MS = 1_000;
const COMPLAINT_EVERY_MS = 60_000;

const ALLOWED: Verdict = { allowed: true };

class Bucket {
  /** Unspent tokens, valid in the turn of their lease. */
  tokens = 0;
  turn = -1;
  sharedSlot = 0;
  ownSlot = 0;
  /** Whether the store counts all of the tokens: otherwise they cannot go back to it. */
  shared = true;
  chunk = 1;
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
 * Two countings run side by side. Processes agree on slots of the time of day, and the store counts by those. This
 * process counts its own share in slots of monotonic time: whatever the time of day does, forward or back, it
 * allows no more than the limit by itself. A turn ends when a slot of either ends.
 */
class LeasingLimiter implements Limiter {
  readonly #store: LimitStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bucketsMax: number;
  /** In the order of their last lease, hence idle ones come first. */
  readonly #buckets = new Map<string, Bucket>();
  /** Both slots begin together, as long as the time of day does not jump. */
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

  tryTake(demands: readonly RateLimitBucket[]): boolean {
    const turn = this.#currentTurn();
    for (let index = 0; index < demands.length; index += 1) {
      const { bucket, perMinute } = demands[index]!;
      if (perMinute === Number.POSITIVE_INFINITY) continue;
      const held = this.#buckets.get(bucket);
      if (held === undefined || held.turn !== turn || held.tokens < 1) {
        this.#putBack(demands, index);
        return false;
      }
      held.tokens -= 1;
    }
    return true;
  }

  take(demands: readonly RateLimitBucket[]): Verdict | Promise<Verdict> {
    // Each round either leases at least one token or is refused, hence it ends.
    for (;;) {
      if (this.tryTake(demands)) return ALLOWED;
      const turn = this.#currentTurn();
      const lacking = demands.filter((demand, index) => this.#lacks(demand, demands, index, turn));
      const leasing: Promise<void>[] = [];
      for (const demand of lacking) {
        const held = this.#bucket(demand.bucket);
        const wait = this.#lease(held, demand, turn);
        if (wait) leasing.push(wait);
        if (held.refusedTurn === turn) return this.#refusal(held, demand);
      }
      if (leasing.length > 0) return Promise.all(leasing).then(() => this.take(demands));
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#buckets.values(), (held) => held.leasing));
    this.#buckets.clear();
    await this.#store.close();
  }

  #putBack(demands: readonly RateLimitBucket[], count: number): void {
    for (let index = 0; index < count; index += 1) {
      const { bucket, perMinute } = demands[index]!;
      if (perMinute !== Number.POSITIVE_INFINITY) this.#buckets.get(bucket)!.tokens += 1;
    }
  }

  /** A bucket may be named twice, and then needs two tokens. */
  #lacks(
    { bucket, perMinute }: RateLimitBucket,
    demands: readonly RateLimitBucket[],
    index: number,
    turn: number,
  ): boolean {
    if (perMinute === Number.POSITIVE_INFINITY) return false;
    const held = this.#buckets.get(bucket);
    if (held === undefined || held.turn !== turn) return true;
    const needed = demands.slice(0, index + 1).filter((demand) => demand.bucket === bucket).length;
    return held.tokens < needed;
  }

  #refusal(held: Bucket, demand: RateLimitBucket): Verdict {
    const waitMs = held.freesAtMs - this.#clock.monotonicMs();
    return { allowed: false, demand, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
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

  #bucket(name: string): Bucket {
    const known = this.#buckets.get(name);
    if (known) return known;
    const made = new Bucket();
    this.#buckets.set(name, made);
    return made;
  }

  /** Asks for more tokens, one request per bucket at a time. The bucket then holds some, or is refused in this turn. */
  #lease(held: Bucket, demand: RateLimitBucket, turn: number): Promise<void> | undefined {
    if (held.leasing) return held.leasing;
    if (held.refusedTurn === turn) return undefined;
    const unspentSlot = held.sharedSlot;
    const unspent = held.turn === turn ? 0 : this.#enterTurn(held, demand.bucket, turn);
    const limit = Math.floor(demand.perMinute);
    const room = limit - held.own.taken(this.#ownSlot);
    if (!(room >= 1))
      return this.#refuseUntil(held, turn, held.own.freesAt(this.#ownSlot, limit) * SLOT_MS - this.#ownOffsetMs);
    const request = {
      bucket: demand.bucket,
      slot: this.#sharedSlot,
      limit,
      want: Math.min(held.chunk, room),
      unspent,
      unspentSlot,
    };
    held.chunk = Math.min(held.chunk * 2, Math.max(1, Math.floor(limit / LEASES_PER_MINUTE)));
    return this.#ask(held, turn, request);
  }

  /** Answers how many tokens of an earlier turn the store shall have back. */
  #enterTurn(held: Bucket, name: string, turn: number): number {
    const unspent = held.tokens;
    if (unspent > 0) held.own.returnTokens(held.ownSlot, unspent);
    const known = held.shared ? unspent : 0;
    held.chunk = turn === held.turn + 1 ? Math.max(1, held.chunk >> 1) : 1;
    held.tokens = 0;
    held.turn = turn;
    held.sharedSlot = this.#sharedSlot;
    held.ownSlot = this.#ownSlot;
    held.shared = true;
    held.leasedAtMs = this.#clock.monotonicMs();
    this.#buckets.delete(name);
    this.#buckets.set(name, held);
    this.#forgetIdle(held.leasedAtMs);
    return known;
  }

  /** One comes, at most two go: the work is spread, and the map shrinks again after a flood. */
  #forgetIdle(nowMs: number): void {
    let checks = 0;
    for (const [name, held] of this.#buckets) {
      if (this.#buckets.size <= this.#bucketsMax && nowMs - held.leasedAtMs <= IDLE_MS) return;
      this.#buckets.delete(name);
      checks += 1;
      if (checks === 2) return;
    }
  }

  #ask(held: Bucket, turn: number, request: LeaseRequest): Promise<void> | undefined {
    if (this.#clock.monotonicMs() < this.#storeFromMs) return this.#grantAlone(held, request);
    try {
      const lease = this.#store.lease(request);
      if (!(lease instanceof Promise)) return this.#settle(held, turn, lease);
      held.leasing = within(lease, STORE_PATIENCE_MS)
        .then((granted) => this.#settle(held, turn, granted))
        .catch((error) => this.#storeFailed(held, request, error))
        .finally(() => {
          held.leasing = undefined;
        });
      return held.leasing;
    } catch (error) {
      return this.#storeFailed(held, request, error);
    }
  }

  #settle(held: Bucket, turn: number, { granted, freesAt }: Lease): undefined {
    if (granted < 1)
      return this.#refuseUntil(held, turn, this.#clock.monotonicMs() + freesAt * SLOT_MS - this.#clock.millis());
    held.tokens += granted;
    held.own.add(held.ownSlot, granted);
  }

  /** Remembered for the turn: a flood of refused requests must not reach the store. */
  #refuseUntil(held: Bucket, turn: number, freesAtMs: number): undefined {
    held.refusedTurn = turn;
    held.freesAtMs = freesAtMs;
  }

  /** Without the store each process grants the limit by itself: more than the limit in sum, but never without one. */
  #grantAlone(held: Bucket, { want }: LeaseRequest): undefined {
    held.tokens += want;
    held.shared = false;
    held.own.add(held.ownSlot, want);
  }

  #storeFailed(held: Bucket, request: LeaseRequest, error: unknown): undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#storeFromMs = nowMs + STORE_PAUSE_MS;
    if (nowMs >= this.#complaintFromMs) {
      this.#complaintFromMs = nowMs + COMPLAINT_EVERY_MS;
      this.#log.warn('rate limits hold per process only, as their store failed', { error });
    }
    return this.#grantAlone(held, request);
  }
}

/** A late lease stays counted and is not used. */
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
