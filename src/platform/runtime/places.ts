/** A number of places, given in the order of arrival. */
export class Places {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /** Undefined when there was a free place. */
  take(): Promise<void> | undefined {
    if (this.#taken >= this.#max) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken += 1;
    return undefined;
  }

  /** Hands the place to the next in the queue, or frees it. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken -= 1;
  }
}
