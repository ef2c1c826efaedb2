import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** A terminal, npm and the launcher each forward one Ctrl-C; only a later signal counts as a second one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Resolves at the first signal to stop. Another one, a second or more later, exits at once. With `reload`, SIGHUP calls
 * it instead, unless it means that the terminal was closed.
 */
export function untilStopped(reload?: () => void): Promise<NodeJS.Signals> {
  // Signal handlers alone do not keep a process running.
  const alive = setInterval(() => {}, 2 ** 30);
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      if (signal === 'SIGHUP' && reload && !process.stdin.isTTY && firstMs === undefined) return reload();
      if (firstMs === undefined) {
        firstMs = performance.now();
        clearInterval(alive);
        resolve(signal);
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal]);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}
