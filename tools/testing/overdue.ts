import os from 'node:os';

export type Overdue = { clear(): void };

/**
 * Calls back after so many seconds, and later where more programs want to run than there are cores: each of them then
 * gets its share of the time alone. Limits are for what hangs, and not for what is slow. Keeps no process running.
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
