import type { ServerResponse } from 'node:http';
import type { TransferScheduler } from '../transfer-scheduler.ts';

export class ClientDisconnected extends Error {
  override readonly name = 'ReaderLeft';
}

/**
 * A response of known length. It ends together with its last bytes, because a client that has them may send its next
 * request before a separate end.
 */
export class FixedLengthResponse {
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

/** Sends files chunk by chunk. */
export class ChunkSender {
  readonly #scheduler: TransferScheduler;

  constructor(scheduler: TransferScheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Sends each chunk after the previous one was flushed, so at most one waits for a slow client. The first chunk skips
   * the scheduler, since it is often the whole of an image.
   */
  send(answer: FixedLengthResponse, pieces: () => Buffer | undefined): Promise<void> {
    const { response } = answer;
    return new Promise((resolve, reject) => {
      const end = (error?: Error | null) => {
        response.off('close', disconnected);
        if (error) reject(error);
        else resolve();
      };
      const disconnected = () => end(new ClientDisconnected('the reader left before the end'));
      const next = () => {
        if (response.destroyed) return disconnected();
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
          disconnected();
        } else if (response.writableEnded) end();
        else this.#scheduler.schedule(next);
      };
      response.once('close', disconnected);
      if (answer.isBegun) this.#scheduler.schedule(next);
      else next();
    });
  }
}
