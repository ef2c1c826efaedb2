import os from 'node:os';

export type Overdue = { clear(): void };

/**
 * Calls back after this many seconds, or later if more processes are runnable than there are cores, because the limit is
 * for hanging files and not for a busy machine. The timer does not keep the process running.
 */
export function whenOverdue(seconds: number, stop: () => void): Overdue {
  const began = performance.now();
  let timer: NodeJS.Timeout;
  const look = () => {
    const share = Math.max(1, os.loadavg()[0]! / os.availableParallelism());
    const left = seconds * share - (performance.now() - began) / 1000;
    if (left <= 0) stop();
    else timer = setTimeout(look, left * 1000).unref();
  };
  timer = setTimeout(look, seconds * 1000).unref();
  return { clear: () => clearTimeout(timer) };
}
