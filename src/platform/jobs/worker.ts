import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import * as store from './store.ts';

export interface RunningJob {
  readonly id: number;
  /** Starts at 1. */
  readonly attempt: number;
  /** Extends the lease of a long job; throws if another worker has taken over the job. */
  heartbeat(): Promise<void>;
}

/** What a run has done. */
export interface Done {
  /** Rows that a continuous job has folded in. After many of them it rests, so that it finds more for each target. */
  readonly rows?: number;
}

/** The handler of a job kind. A job may run twice, even concurrently. */
export interface JobHandler<A> {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: the enqueuing code and the handler of a kind agree on its payload
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers have nothing to tell
  run(app: A, payload: any, job: RunningJob): Promise<void | Done>;
  readonly attemptsMax?: number;
  /** After this time without a heartbeat the worker counts as dead, and another one starts the job again. */
  readonly leaseSeconds?: number;
  /**
   * Scheduled: runs at the first start and then this many seconds after each run, on one of all workers. Never parked.
   */
  readonly every?: number;
  /**
   * Runs at every poll of every worker, about once a second, without a row in the table of jobs; after much work at every
   * third. It returns at once when there is nothing to do, and tolerates runs of other workers at the same time.
   */
  readonly continuous?: boolean;
  /**
   * Ends or deletes what is old enough. It waits until clocks agree on the time, and for a day after a leap of the
   * agreed time its clock shows the time before.
   */
  readonly byAge?: true;
}

export interface Worker {
  start(): void;
  /** Starts no further jobs and waits for running ones. */
  stop(): Promise<void>;
  /** Runs all due jobs, including those they add, and returns the number of runs. */
  runDue(): Promise<number>;
}

export interface WorkerParts<A> {
  readonly app: A;
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly handlers: readonly JobHandler<A>[];
  readonly concurrency?: number;
  /** The time for jobs `byAge`; undefined while clocks disagree. */
  readonly agreedTime?: () => Promise<number | undefined>;
}

/** A job that must not run now. */
class Postponed extends Error {}

const POSTPONED_SECONDS = 300;
const ATTEMPTS_MAX = 8;
const LEASE_SECONDS = 60;
const POLL_MS = 1_000;
const UPKEEP_MS = 60_000;
const MANY_ROWS = 200;
const RESTED_POLLS = 2;
const BACKOFF_FIRST_SECONDS = 5;
const BACKOFF_MAX_SECONDS = 3_600;
const ERROR_CHARACTERS_MAX = 2_000;
const NO_HANDLER = 'no handler for this kind';

export function createWorker<A>(parts: WorkerParts<A>): Worker {
  return new DatabaseWorker(parts);
}

interface Claim<A> extends store.LeasedJob {
  readonly handler: JobHandler<A>;
  readonly payload: unknown;
  readonly attempt: number;
}

type Decision<A> = { park: string } | { handler: JobHandler<A>; payload: unknown; attempt: number };

class DatabaseWorker<A> implements Worker {
  readonly #parts: WorkerParts<A>;
  readonly #handlers: ReadonlyMap<string, JobHandler<A>>;
  readonly #concurrency: number;
  readonly #leaseSecondsMax: number;
  readonly #running = new Set<Promise<void>>();
  #started = false;
  #unlisten = () => {};
  #timer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | undefined;
  #again = false;
  #continuing: Promise<void> | undefined;
  /** How many more polls each kind of continuous job rests for. */
  readonly #resting = new Map<string, number>();
  #upkeepFromMs = Number.NEGATIVE_INFINITY;

  constructor(parts: WorkerParts<A>) {
    this.#parts = parts;
    this.#handlers = new Map(parts.handlers.map((handler) => [handler.kind, handler]));
    this.#concurrency = parts.concurrency ?? 2;
    this.#leaseSecondsMax = Math.max(LEASE_SECONDS, ...parts.handlers.map((handler) => handler.leaseSeconds ?? 0));
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    // On PostgreSQL a notification announces jobs of other processes. On SQLite the poll finds them, and on both it
    // finds jobs that become due.
    this.#unlisten = this.#parts.db.changes.listen((scope) => {
      if (scope === undefined || scope === store.JOBS_SCOPE) this.#wake();
    });
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref();
    this.#poll();
  }

  async stop(): Promise<void> {
    this.#started = false;
    this.#unlisten();
    clearInterval(this.#timer);
    await this.#pumping;
    await Promise.all(this.#running);
    await this.#continuing;
  }

  async runDue(): Promise<number> {
    await this.#upkeep();
    for (let runs = 0; ; ) {
      await this.#runContinuous();
      const { seen, claims } = await this.#claim(this.#concurrency);
      if (seen === 0) return runs;
      await Promise.all(claims.map((claim) => this.#run(claim)));
      runs += claims.length;
    }
  }

  #poll(): void {
    this.#wake();
    this.#continuing ??= this.#runContinuous((kind) => this.#rests(kind)).finally(() => {
      this.#continuing = undefined;
    });
  }

  #rests(kind: string): boolean {
    const polls = this.#resting.get(kind) ?? 0;
    this.#resting.set(kind, polls - 1);
    return polls > 0;
  }

  async #runContinuous(rests: (kind: string) => boolean = () => false): Promise<void> {
    const { app, handlers, log } = this.#parts;
    for (const { kind, continuous, run } of handlers) {
      if (!continuous || rests(kind)) continue;
      try {
        const done = await run(app, undefined, { id: 0, attempt: 1, heartbeat: async () => {} });
        this.#resting.set(kind, (done?.rows ?? 0) >= MANY_ROWS ? RESTED_POLLS : 0);
      } catch (error) {
        log.warn('a continuous job failed; the next poll tries again', { kind, error });
      }
    }
  }

  #wake(): void {
    this.#again = this.#started;
    if (this.#again) this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      try {
        await this.#fill();
      } catch (error) {
        this.#parts.log.warn('jobs could not be fetched; the next poll tries again', { error });
      }
    }
    this.#pumping = undefined;
  }

  async #fill(): Promise<void> {
    if (this.#parts.clock.monotonicMs() >= this.#upkeepFromMs) await this.#upkeep();
    const free = this.#concurrency - this.#running.size;
    if (free < 1) return;
    const { seen, claims } = await this.#claim(free);
    if (seen > claims.length) this.#again = this.#started;
    for (const claim of claims) {
      const run = this.#run(claim).finally(() => {
        this.#running.delete(run);
        this.#wake();
      });
      this.#running.add(run);
    }
  }

  /** Updates the schedules, and requeues jobs that an older version parked because it did not know their kind. */
  async #upkeep(): Promise<void> {
    const { db, clock, handlers } = this.#parts;
    this.#upkeepFromMs = clock.monotonicMs() + UPKEEP_MS;
    const now = clock.now();
    const schedules = handlers.flatMap(({ kind, every }) => (every ? [{ kind, every }] : []));
    await store.schedule(db, schedules, now);
    for (const id of await store.parkedWith(db, NO_HANDLER, [...this.#handlers.keys()])) {
      await store.requeue(db, { id, state: 'parked' }, { due: now, attempt: 0, error: null });
    }
  }

  async #claim(limit: number): Promise<{ seen: number; claims: Claim<A>[] }> {
    const { db, clock, log } = this.#parts;
    const now = clock.now();
    const time = { now, leaseEndMax: now + 2 * this.#leaseSecondsMax };
    if (!(await store.isAnyDue(db, time))) return { seen: 0, claims: [] };
    const { claims, parked } = await db.write(async ({ query }) => {
      const due = await store.selectDue(query, db.dialect, time, limit);
      const claims: Claim<A>[] = [];
      const parked: { id: number; kind: string; attempt: number; error: string }[] = [];
      for (const { id, kind, attempt, ...row } of due) {
        const decision = this.#decide({ id, kind, attempt, ...row });
        if ('park' in decision) {
          await store.park(query, id, decision.park);
          parked.push({ id, kind, attempt, error: decision.park });
        } else {
          const lease = this.#parts.random.hex(32);
          await store.start(query, id, lease, now + leaseSecondsOf(decision.handler), decision.attempt);
          claims.push({ id, lease, ...decision });
        }
      }
      return { claims, parked };
    });
    for (const job of parked) log.error('a job was parked', job);
    return { seen: claims.length + parked.length, claims };
  }

  /** Parks a job that cannot run, before it can block others. */
  #decide({ kind, payload, attempt, last_error }: store.DueJob): Decision<A> {
    const handler = this.#handlers.get(kind);
    if (!handler) return { park: NO_HANDLER };
    // Attempts are counted at the start, so that a job that crashes its worker reaches the limit, too.
    const isSpent = attempt >= attemptsMaxOf(handler);
    if (isSpent && !handler.every)
      return { park: last_error ?? 'its worker ended, or lost the lease, at each attempt' };
    try {
      return { handler, payload: JSON.parse(payload), attempt: isSpent ? 1 : attempt + 1 };
    } catch {
      return { park: 'the payload is not JSON' };
    }
  }

  /** Never throws: if the result cannot be stored, the lease expires and the job runs again. */
  async #run(claim: Claim<A>): Promise<void> {
    const { app, log } = this.#parts;
    const { id, handler, attempt } = claim;
    const fields = { id, kind: handler.kind, attempt };
    let failure: { cause: unknown } | undefined;
    try {
      const appOfJob = handler.byAge ? await this.#withAgreedTime(app) : app;
      await handler.run(appOfJob, claim.payload, { id, attempt, heartbeat: () => this.#heartbeat(claim) });
    } catch (cause) {
      failure = { cause };
    }
    try {
      const isHeld = failure ? await this.#failed(claim, failure.cause) : await this.#succeeded(claim);
      if (!isHeld) log.warn('a job ran past its lease and may run twice', fields);
    } catch (error) {
      log.error('the outcome of a job could not be written; it will run again', { ...fields, error });
    }
  }

  async #withAgreedTime(app: A): Promise<A> {
    const { agreedTime, clock } = this.#parts;
    if (!agreedTime) return app;
    const time = await agreedTime();
    if (time === undefined) throw new Postponed('the clocks of this process and of the database disagree');
    const behind = Math.max(0, clock.now() - time);
    if (behind === 0) return app;
    const late: Clock = {
      now: () => clock.now() - behind,
      millis: () => clock.millis() - behind * 1_000,
      monotonicMs: () => clock.monotonicMs(),
    };
    return { ...app, clock: late };
  }

  async #heartbeat(claim: Claim<A>): Promise<void> {
    const { db, clock } = this.#parts;
    const isHeld = await store.extendLease(db, claim, clock.now() + leaseSecondsOf(claim.handler));
    if (!isHeld) throw new Error('the lease of the job has passed to another worker');
  }

  #succeeded(claim: Claim<A>): Promise<boolean> {
    const { db, clock } = this.#parts;
    const { every } = claim.handler;
    if (!every) return store.remove(db, claim);
    return store.requeue(db, claim, { due: clock.now() + every, attempt: 0, error: null });
  }

  async #failed(claim: Claim<A>, cause: unknown): Promise<boolean> {
    const { db, clock, log } = this.#parts;
    const { id, attempt, handler } = claim;
    const fields = { id, kind: handler.kind, attempt, error: cause };
    if (cause instanceof Postponed) {
      log.warn('a job that deletes by age waits, because clocks disagree', { id, kind: handler.kind });
      return store.requeue(db, claim, { due: clock.now() + POSTPONED_SECONDS, attempt: 0, error: null });
    }
    const error = String(cause).slice(0, ERROR_CHARACTERS_MAX);
    if (attempt < attemptsMaxOf(handler)) {
      log.warn('a job failed and will be tried again', fields);
      return store.requeue(db, claim, { due: clock.now() + this.#backoffSeconds(attempt), attempt, error });
    }
    if (handler.every) {
      log.error('a scheduled job failed at each attempt; it waits for its next time', fields);
      return store.requeue(db, claim, { due: clock.now() + handler.every, attempt: 0, error });
    }
    log.error('a job was parked', fields);
    return store.parkLeased(db, claim, error);
  }

  /** Doubles with each attempt; a random part spreads jobs that failed together. */
  #backoffSeconds(attempt: number): number {
    const whole = Math.min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2 ** (attempt - 1));
    const part = this.#parts.random.bytes(1)[0]! / 255;
    return Math.ceil(whole * (0.5 + part / 2));
  }
}

function attemptsMaxOf({ attemptsMax }: JobHandler<never>): number {
  return attemptsMax ?? ATTEMPTS_MAX;
}

function leaseSecondsOf({ leaseSeconds }: JobHandler<never>): number {
  return leaseSeconds ?? LEASE_SECONDS;
}
