import { nap } from '../runtime/nap.ts';

/** Time after a request during which more requests are expected. */
const RECENT_REQUEST_MS = 1_000;
/** Time after a chunk during which transfers count as active. */
const RECENT_TRANSFER_MS = 100;
/** Share of time that the event loop should be idle while requests arrive, so that most find it free. */
const IDLE_SHARE = 0.6;
/** Window over which idle time is measured, so that an idle second does not allow a burst in the next one. */
const IDLE_WINDOW_MS = 10;
const PAUSE_MS = 1;
/** Chunks between two pauses however busy the event loop is: about the rate of a gigabit line. */
const CHUNKS_PER_PAUSE_MIN = 4;
/** Time between two naps of an event loop that only moves chunks. */
const AWAKE_MS = 0.2;

interface LoopClock {
  now(): number;
  /** Total idle time of the event loop in milliseconds. */
  idle(): number;
  /** Gives the core to a thread or a process that waits for it. */
  nap(): void;
}

const LOOP_CLOCK: LoopClock = { now: () => performance.now(), idle: () => performance.nodeTiming.idleTime, nap };

/**
 * Runs chunks of long bodies and files one per event-loop tick, so that a request waits for one chunk at most. While
 * requests arrive it also pauses, to leave processor time to them and to the threads that hash and write. While none do,
 * it naps, so that those of other processes need not wait for a time slice.
 */
export class TransferScheduler {
  readonly #clock: LoopClock;
  readonly #queue: (() => void)[] = [];
  #lastRequestAt = Number.NEGATIVE_INFINITY;
  #lastTransferAt = Number.NEGATIVE_INFINITY;
  #chunksBeforePause = 0;
  #windowStart = Number.NEGATIVE_INFINITY;
  #idleAtWindowStart = 0;
  #awakeSince = Number.NEGATIVE_INFINITY;

  constructor(clock: LoopClock = LOOP_CLOCK) {
    this.#clock = clock;
  }

  /** Records that a request other than a transfer was answered. */
  noteRequest(now: number): void {
    this.#lastRequestAt = now;
  }

  hasRecentRequests(now = this.#clock.now()): boolean {
    return now - this.#lastRequestAt <= RECENT_REQUEST_MS;
  }

  /** True while transfers are active. */
  get isTransferring(): boolean {
    // Spares most responses the clock.
    if (this.#lastRequestAt - this.#lastTransferAt > RECENT_TRANSFER_MS) return false;
    return this.#clock.now() - this.#lastTransferAt <= RECENT_TRANSFER_MS;
  }

  /** Runs a chunk in one of the next ticks. */
  schedule(move: () => void): void {
    if (this.#queue.push(move) === 1) setImmediate(this.#runNext);
  }

  readonly #runNext = (): void => {
    const now = this.#clock.now();
    if (this.hasRecentRequests(now)) {
      if (this.#pause(now)) return;
    } else if (now - this.#awakeSince >= AWAKE_MS) this.#nap();
    this.#lastTransferAt = now;
    const move = this.#queue.shift()!;
    if (this.#queue.length > 0) setImmediate(this.#runNext);
    move();
  };

  /** False if the next chunk may move. */
  #pause(now: number): boolean {
    if (this.#chunksBeforePause > 0) {
      this.#chunksBeforePause -= 1;
      return false;
    }
    if (!this.#isTooBusy(now)) return false;
    this.#chunksBeforePause = CHUNKS_PER_PAUSE_MIN;
    setTimeout(this.#runNext, PAUSE_MS);
    return true;
  }

  #isTooBusy(now: number): boolean {
    const idle = this.#clock.idle();
    if (now - this.#windowStart > IDLE_WINDOW_MS) {
      this.#windowStart = now;
      this.#idleAtWindowStart = idle;
    }
    return idle - this.#idleAtWindowStart < IDLE_SHARE * (now - this.#windowStart);
  }

  #nap(): void {
    this.#clock.nap();
    this.#awakeSince = this.#clock.now();
  }
}

/** One instance, because there is one event loop. */
export const transferScheduler = new TransferScheduler();
