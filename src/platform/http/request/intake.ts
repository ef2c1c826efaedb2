import { type RightOfWay, rightOfWay } from '../right-of-way.ts';

/** What all bodies together may bring in one turn of the event loop. */
const BYTES_PER_TURN = 32 * 1024;

/**
 * Long bodies come in by turns, one after the other. A fast line would otherwise hand over megabytes in one turn, and
 * whoever asks for a page meanwhile would wait for all of them. What comes while a body waits stays on its line.
 */
export class Intake {
  readonly #way: RightOfWay;
  #left = BYTES_PER_TURN;
  #isCounting = false;

  constructor(way: RightOfWay) {
    this.#way = way;
  }

  /** Counts what came of a body. Where its turn is over it has to be held back until `goOn` is called, in a later one. */
  isOver(bytes: number, goOn: () => void): boolean {
    this.#left -= bytes;
    this.#count();
    if (this.#left > 0) return false;
    this.#way.wait(() => {
      this.#left = BYTES_PER_TURN;
      goOn();
    });
    return true;
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(this.#begin);
  }

  /** Where nothing is left a body waits, and counts anew when it goes on. */
  readonly #begin = (): void => {
    this.#isCounting = false;
    if (this.#left > 0) this.#left = BYTES_PER_TURN;
  };
}

/** There is one event loop. */
export const intake = new Intake(rightOfWay);
