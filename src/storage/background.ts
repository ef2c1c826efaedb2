import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICE = 19;

/** Lets the thread that calls this wait where there is not enough processor for all. Only Linux knows that of a thread. */
export function giveWay(): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
  } catch {
    // Then it has the priority of all.
  }
}
