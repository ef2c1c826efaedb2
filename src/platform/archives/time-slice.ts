import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 8;

/** Long work in small slices: once a slice is used up, others have their turn. */
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
