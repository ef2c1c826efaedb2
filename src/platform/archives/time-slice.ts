import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 8;

/** Splits long synchronous work into slices, and yields to the event loop after each. */
export class TimeSlice {
  #startedAt = performance.now();

  get isUsedUp(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  async yieldToEventLoop(): Promise<void> {
    await turn();
    this.#startedAt = performance.now();
  }
}
