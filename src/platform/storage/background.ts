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
