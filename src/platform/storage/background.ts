import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICE = 19;

/** Lets other threads run before the calling one. Only Linux has priorities of single threads. */
export function lowerThreadPriority(): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
    useIdlePolicy(thread!);
  } catch {
    // The thread keeps its normal priority.
  }
}

/**
 * A thread with the lowest priority still finishes its time slice; one with the policy `idle` is preempted at once.
 */
function useIdlePolicy(thread: string): void {
  execFile('chrt', ['--idle', '--pid', '0', thread], () => {
    // Without `chrt` the lowest priority is used alone.
  });
}
