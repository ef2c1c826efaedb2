import type { Changes } from './database.ts';

const WATCH_MS = 50;
/** A replica that has not confirmed for this long how far it is counts as away. */
const CONFIRMED_MS = 2_000;
const ANSWER_MS = 1_000;

export interface ReplicaParts {
  readonly changes: Changes;
  /** The primary's position in the log. */
  readonly written: () => Promise<string>;
  /** Whether the replica has replayed the log up to this position. */
  readonly hasReplayed: (position: string) => Promise<boolean>;
  /** The replica has not answered since then. */
  readonly silent: (sinceMs: number) => void;
}

/**
 * Tells whether a read may go to the replica: only if it has replayed every change that this process knows of, its own and
 * those that others announced. So a caller reads its own writes, and nothing outdated is cached as current.
 */
export class ReplicaState {
  readonly #parts: ReplicaParts;
  readonly #timer: NodeJS.Timeout;
  #writes = 0;
  #caughtUp: { readonly change: number; readonly writes: number; readonly at: number } | undefined;
  #isAsking = false;
  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), WATCH_MS).unref();
  }

  /** A transaction of this process has committed. */
  wrote(): void {
    this.#writes += 1;
  }

  get isCurrent(): boolean {
    const { changes } = this.#parts;
    const caughtUp = this.#caughtUp;
    if (!caughtUp || performance.now() - caughtUp.at > CONFIRMED_MS) return false;
    return caughtUp.writes === this.#writes && caughtUp.change === changes.now() && isHeard(changes);
  }

  /** Whether it may stand in while the primary is away: it has every write that this process acknowledged. */
  get hasOwnWrites(): boolean {
    return this.#caughtUp?.writes === this.#writes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Asks both sides how far they are. */
  async look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const state = { change: this.#parts.changes.now(), writes: this.#writes, at: performance.now() };
    try {
      const position = await this.#parts.written();
      if (await inTime(this.#parts.hasReplayed(position), () => this.#parts.silent(state.at))) this.#caughtUp = state;
    } catch {
      // One of them is away.
    } finally {
      this.#isAsking = false;
    }
  }
}

const isHeard = (changes: Changes) => changes.unchangedSince(changes.now(), 'replica');

async function inTime<T>(asked: Promise<T>, late: () => void): Promise<T> {
  const timer = setTimeout(late, ANSWER_MS);
  try {
    return await asked;
  } finally {
    clearTimeout(timer);
  }
}
