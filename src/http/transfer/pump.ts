import type { ServerResponse } from 'node:http';

export class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/**
 * An answer of known length. It ends with its last bytes and not after them: whoever has them may send the next
 * request at once, and would be found to do so before the end.
 */
export class Answer {
  readonly response: ServerResponse;
  #left: number;

  constructor(response: ServerResponse, bytes: number) {
    this.response = response;
    this.#left = bytes;
  }

  write(piece: Buffer, done: (error?: Error | null) => void): void {
    this.#left -= piece.length;
    if (this.#left > 0) this.response.write(piece, done);
    else this.response.end(piece, done);
  }
}

/**
 * Sends one piece in each turn of the event loop, whichever transfer it belongs to: a request that comes in the
 * meantime waits for one piece, and not for one of every reader who is ready for more.
 */
export class Pump {
  readonly #ready: (() => void)[] = [];

  /**
   * Sends piece after piece, the next when the last has left this process, until there is none. So no more than a piece
   * waits for a slow reader.
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
        if (error || response.writableEnded) end(error);
        else this.#wait(next);
      };
      response.once('close', left);
      this.#wait(next);
    });
  }

  #wait(next: () => void): void {
    if (this.#ready.push(next) === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const next = this.#ready.shift()!;
    if (this.#ready.length > 0) setImmediate(this.#turn);
    next();
  };
}
