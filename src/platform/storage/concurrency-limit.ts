import { Places } from '../runtime/places.ts';

/** Runs at most this many tasks at once; the others wait in order of arrival. */
export class ConcurrencyLimit {
  readonly #places: Places;

  constructor(max: number) {
    this.#places = new Places(max);
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#places.take();
    try {
      return await work();
    } finally {
      this.#places.leave();
    }
  }
}
