import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 8;

/** Long work in small slices: once a slice is used up, others have their turn. */
export class Breath {
  #since = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async take(): Promise<void> {
    await turn();
    this.#since = performance.now();
  }
}
