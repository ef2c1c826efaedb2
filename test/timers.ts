import type { TestContext } from 'node:test';

/**
 * Holds the timers of one delay until `run` is called. All others stay real: a connection pool that clears a timer
 * while timers are mocked closes that connection ten seconds later, even in the middle of a commit.
 */
export function holdTimers(t: TestContext, delayMs: number): { run(): void } {
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  const held = new Map<unknown, () => void>();
  const hold = (callback: () => void, ms?: number) => {
    if (ms !== delayMs) return start(callback, ms);
    const timer = start(() => undefined, 2 ** 31 - 1).unref();
    held.set(timer, callback);
    return timer;
  };
  t.mock.method(globalThis, 'setTimeout', hold as typeof start);
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    held.delete(timer);
    clear(timer);
  });
  return {
    run() {
      const callbacks = [...held.values()];
      held.clear();
      for (const callback of callbacks) callback();
    },
  };
}
