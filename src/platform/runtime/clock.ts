/** Wall-clock and monotonic time, passed as a dependency so that tests can control it. */
export interface Clock {
  /** Unix time in whole seconds, as in the API. */
  now(): number;
  /** Unix time in milliseconds. */
  millis(): number;
  /**
   * Milliseconds that never go backwards: for leases, deadlines and rate limits, which a clock jump must not affect.
   */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Math.floor(Date.now() / 1000),
  millis: () => Date.now(),
  monotonicMs: () => performance.now(),
};

export interface ManualClock extends Clock {
  advance(seconds: number): void;
}

/** A clock that stands still until it is advanced; only its wall-clock time can be set back. */
export function manualClock(startSeconds: number): ManualClock {
  let dayMs = Math.round(startSeconds * 1000);
  let elapsedMs = 0;
  return {
    now: () => Math.floor(dayMs / 1000),
    millis: () => dayMs,
    monotonicMs: () => elapsedMs,
    advance(seconds) {
      const ms = Math.round(seconds * 1000);
      dayMs += ms;
      elapsedMs += Math.max(0, ms);
    },
  };
}
