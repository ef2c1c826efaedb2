/** What all bodies together may bring in one turn of the event loop. */
const BYTES_PER_TURN = 32 * 1024;

/**
 * Bodies that are longer than what their connection brings at once go on by turns, one after the other. A fast line would
 * otherwise hand over megabytes in one turn, and whoever asks for a page meanwhile would wait for all of them. What comes
 * while a body waits stays on its line.
 */
export class Intake {
  readonly #waiting: { readonly bytes: number; readonly goOn: () => void }[] = [];

  /** Settles in a later turn, when these bytes are due. */
  turn(bytes: number): Promise<void> {
    return new Promise((goOn) => {
      if (this.#waiting.push({ bytes, goOn }) === 1) setImmediate(this.#letIn);
    });
  }

  readonly #letIn = (): void => {
    for (let left = BYTES_PER_TURN; left > 0 && this.#waiting.length > 0; ) {
      const { bytes, goOn } = this.#waiting.shift()!;
      left -= bytes;
      goOn();
    }
    if (this.#waiting.length > 0) setImmediate(this.#letIn);
  };
}

/** There is one event loop. */
export const intake = new Intake();
