import type { Hash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Low enough that requests come first, and high enough that a busy machine does not starve uploads. */
const NICE = 10;

/** Lets other threads run before the calling one. Only Linux has priorities of single threads. */
export function lowerThreadPriority(): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
  } catch {
    // The thread keeps its normal priority.
  }
}

const PIECE_BYTES = 64 * 1024;
/** The shortest sleep that the system knows. */
const PAUSE_MS = 0.02;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Sleeps between pieces, because a thread that computes on keeps its core for its time slice, some milliseconds, whatever
 * its priority, and a request that arrives in this or another process waits.
 */
export function updateInPieces(hashes: readonly Hash[], bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) Atomics.wait(sleeper, 0, 0, PAUSE_MS);
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    for (const hash of hashes) hash.update(piece);
  }
}
