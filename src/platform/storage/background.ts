import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICE = 19;

/** Lets the thread that calls this wait where there is not enough processor for all. Only Linux knows that of a thread. */
export function lowerThreadPriority(): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
    yieldAtOnce(thread!);
  } catch {
    // Then it has the priority of all.
  }
}

/** A thread with the lowest priority still ends its turn of some milliseconds; one that is `idle` leaves at once. */
function yieldAtOnce(thread: string): void {
  execFile('chrt', ['--idle', '--pid', '0', thread], () => {
    // Where there is no such command the priority has to do.
  });
}
