import type { Hash } from 'node:crypto';
import { setPriority } from 'node:os';
import { nap } from '../runtime/nap.ts';
import { ownThread } from '../runtime/own-thread.ts';

/** Low enough that requests come first, and high enough that a busy machine does not starve uploads. */
const NICE = 10;

/** Lets other threads run before the calling one. Only Linux has priorities of single threads. */
export function lowerThreadPriority(): void {
  try {
    setPriority(ownThread(), NICE);
  } catch {
    // The thread keeps its normal priority.
  }
}

/** Hashed within 0.2 ms, even without instructions for SHA-256. */
const PIECE_BYTES = 32 * 1024;

/** Naps between pieces, because hashing takes a whole core while a file is received. */
export function updateInPieces(hashes: readonly Hash[], bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) nap();
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    for (const hash of hashes) hash.update(piece);
  }
}
