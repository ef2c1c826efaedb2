import { writeFileSync } from 'node:fs';
import { ownThread } from './own-thread.ts';

const NAP_MS = 0.02;
const WAKE_LATE_NS = 1_000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let isPunctual = false;

/**
 * Gives the core of this thread to one that waits for it. A thread that computes on keeps its core for a time slice, a
 * millisecond or more, whatever its priority, and a request that arrives in this or another process waits as long.
 */
export function nap(): void {
  if (!isPunctual) wakeInTime();
  isPunctual = true;
  Atomics.wait(sleeper, 0, 0, NAP_MS);
}

/** Linux wakes a thread up to 50 µs late by default, which is longer than a nap. */
function wakeInTime(): void {
  try {
    writeFileSync(`/proc/${ownThread()}/timerslack_ns`, String(WAKE_LATE_NS));
  } catch {
    // Other systems have no such setting.
  }
}
