import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { type Answer, startApi } from './api.ts';
import { leastCpuMs, longestIterationMs, relativeCpuTime } from './cpu-time.ts';
import { aCast, aScene, inputFor } from './race-scene.ts';

// No request blocks the process: each takes less than 50 ms of CPU time on the event loop that all requests share.
const BOUND_MS = 50;

export const URL_LENGTH_MAX = 14_000;

/** Text of this length from repetitions of a piece. */
export const filled = (piece: string, length: number): string =>
  piece
    .repeat(Math.ceil(length / piece.length))
    .slice(0, length)
    .toWellFormed();

/** A service with one resource of every kind, and assertions about the CPU time of its requests. */
export async function startBounded() {
  const api = await startApi({
    settings: {
      MODSTEAD_CACHE_MB: '0',
      MODSTEAD_JOBS: 'off',
      // Reads that PostgreSQL cuts off at their limit say the same after a second as after the default of four.
      MODSTEAD_READ_MS: '1000',
      MODSTEAD_PAYMENTS: 'simulated',
    },
    writesRows: true,
  });
  const scene = await aScene(api, await aCast(api));
  const boundMs = BOUND_MS * relativeCpuTime();
  let slowest = { ms: 0, what: '' };

  /** Sends a request, asserts its bound, and returns the response. */
  async function bounded(what: string, ask: () => Promise<Answer>, measure = leastCpuMs): Promise<Answer> {
    let answer: Answer | undefined;
    const ms = await measure(boundMs, async () => {
      api.app().db.changes.everythingChanged();
      answer = await ask();
    });
    if (ms > slowest.ms) slowest = { ms, what };
    // Other work on the same core slows this thread down, so the bound is taken again where it is missed.
    const maxMs = ms <= boundMs ? boundMs : BOUND_MS * relativeCpuTime();
    assert.ok(ms <= maxMs, `${what} took ${ms} ms of at most ${maxMs}`);
    assert.ok(answer!.status < 500, `${what}: ${answer!.text.slice(0, 300)}`);
    return answer!;
  }

  return {
    api,
    scene,
    bounded,
    boundedPerIteration: (what: string, ask: () => Promise<Answer>) => bounded(what, ask, longestIterationMs),
    targetOf: (operation: AnyOperation) => {
      const { params = {} } = inputFor(operation, scene);
      return operation.declaration.path.replace(/\{(\w+)\}/g, (_: string, name: string) => String(params[name] ?? 1));
    },
    /** To be called after all other tests. */
    reportSlowest: () =>
      test('the slowest response is reported', (t) => t.diagnostic(`${slowest.what}: ${slowest.ms} ms of ${boundMs}`)),
  };
}
