/** How long after one of them others are taken to be asking still. */
const ASKING_MS = 1_000;
/** How long after a piece transfers are taken to be under way still. */
const MOVING_MS = 100;
/** While others ask the event loop is idle for this share of the time: whoever comes then mostly finds it free. */
const IDLE_SHARE = 0.6;
/** Over which time that is told, so that a second in which nothing moved is no reason to hurry in the next. */
const SPAN_MS = 10;
const PAUSE_MS = 1;
/** What moves between two pauses however busy the event loop is: about what a line of a gigabit brings. */
const PIECES_MIN = 4;

interface Watch {
  now(): number;
  /** For how long the event loop has had nothing to do, since it began. */
  idle(): number;
}

const WATCH: Watch = { now: () => performance.now(), idle: () => performance.nodeTiming.idleTime };

/**
 * Pieces of long bodies and of files move one after the other, one in each turn of the event loop, so that a request which
 * comes meanwhile waits for one of them. While there are such requests the pieces also pause: not for the event loop's sake
 * alone, but for the threads that hash and write what they bring, and the processors that all of them share.
 */
export class RightOfWay {
  readonly #watch: Watch;
  readonly #pieces: (() => void)[] = [];
  #askedAt = Number.NEGATIVE_INFINITY;
  #movedAt = Number.NEGATIVE_INFINITY;
  #granted = 0;
  #since = Number.NEGATIVE_INFINITY;
  #idleBefore = 0;

  constructor(watch: Watch = WATCH) {
    this.#watch = watch;
  }

  /** Tells that a request was answered which is not a transfer itself. */
  asked(now: number): void {
    this.#askedAt = now;
  }

  isAsked(now = this.#watch.now()): boolean {
    return now - this.#askedAt <= ASKING_MS;
  }

  /** Whether transfers are under way. */
  get isMoving(): boolean {
    return this.#watch.now() - this.#movedAt <= MOVING_MS;
  }

  /** Has a piece move in one of the next turns. */
  wait(move: () => void): void {
    if (this.#pieces.push(move) === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const now = this.#watch.now();
    if (this.#granted === 0 && this.#hasToPause(now)) {
      this.#granted = PIECES_MIN;
      setTimeout(this.#turn, PAUSE_MS);
      return;
    }
    if (this.#granted > 0) this.#granted -= 1;
    this.#movedAt = now;
    const move = this.#pieces.shift()!;
    if (this.#pieces.length > 0) setImmediate(this.#turn);
    move();
  };

  #hasToPause(now: number): boolean {
    if (!this.isAsked(now)) return false;
    const idle = this.#watch.idle();
    if (now - this.#since > SPAN_MS) {
      this.#since = now;
      this.#idleBefore = idle;
    }
    return idle - this.#idleBefore < IDLE_SHARE * (now - this.#since);
  }
}

/** There is one event loop. */
export const rightOfWay = new RightOfWay();
