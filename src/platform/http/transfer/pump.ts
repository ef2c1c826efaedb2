import type { ServerResponse } from 'node:http';
import type { RightOfWay } from '../right-of-way.ts';

export class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/**
 * An answer of known length. It ends with its last bytes and not after them: whoever has them may send the next
 * request at once, and would be found to do so before the end.
 */
export class Answer {
  readonly response: ServerResponse;
  readonly #bytes: number;
  #left: number;

  constructor(response: ServerResponse, bytes: number) {
    this.response = response;
    this.#bytes = bytes;
    this.#left = bytes;
  }

  get isBegun(): boolean {
    return this.#left < this.#bytes;
  }

  write(piece: Buffer, done: (error?: Error | null) => void): void {
    this.#left -= piece.length;
    if (this.#left > 0) this.response.write(piece, done);
    else this.response.end(piece, done);
  }
}

/** Sends files piece by piece. */
export class Pump {
  readonly #way: RightOfWay;

  constructor(way: RightOfWay) {
    this.#way = way;
  }

  /**
   * Sends piece after piece, the next when the last has left this process, until there is none. So no more than a piece
   * waits for a slow reader. The first piece of an answer waits for nobody: to most who look at a page it is the whole of
   * a picture.
   */
  send(answer: Answer, pieces: () => Buffer | undefined): Promise<void> {
    const { response } = answer;
    return new Promise((resolve, reject) => {
      const end = (error?: Error | null) => {
        response.off('close', left);
        if (error) reject(error);
        else resolve();
      };
      const left = () => end(new ReaderLeft('the reader left before the end'));
      const next = () => {
        if (response.destroyed) return left();
        try {
          const piece = pieces();
          if (piece) answer.write(piece, written);
          else end();
        } catch (error) {
          end(error as Error);
        }
      };
      const written = (error?: Error | null) => {
        if (error) {
          response.destroy();
          left();
        } else if (response.writableEnded) end();
        else this.#way.wait(next);
      };
      response.once('close', left);
      if (answer.isBegun) this.#way.wait(next);
      else next();
    });
  }
}
