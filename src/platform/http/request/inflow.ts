import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { giveBack } from '../../runtime/memory.ts';
import { intake } from './intake.ts';

export interface Reader {
  /** Whether nobody needs the memory of the chunk any more. */
  take(chunk: Buffer): boolean;
  /** Called once: the bytes have ended, or will not. */
  end(error?: Error): void;
}

/**
 * What a stream brings, as it comes: without a promise for each piece of it, of which a fast line brings ten thousand in a
 * second. Bodies of requests share the turns of `intake`. To leave a stream does not destroy it, as the socket of a
 * request has to carry the answer.
 */
export class Inflow {
  readonly #stream: Readable;
  readonly #reader: Reader;
  readonly #isRequest: boolean;
  #isHeld = false;
  #isWaiting = false;
  #isLeft = false;

  constructor(stream: Readable, reader: Reader) {
    this.#stream = stream;
    this.#reader = reader;
    this.#isRequest = stream instanceof IncomingMessage;
    stream.on('error', this.#break).once('close', this.#close).once('end', this.#end).on('data', this.#take);
  }

  /** Nothing more comes until it may go on. */
  hold(): void {
    this.#isHeld = true;
    this.#stream.pause();
  }

  goOn(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#flow();
  }

  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#stream.off('data', this.#take).off('end', this.#end).off('close', this.#close).pause();
  }

  readonly #take = (chunk: Buffer): void => {
    const { length } = chunk;
    const isDone = this.#reader.take(chunk);
    if (!this.#isRequest) return;
    // Node.js allocates each chunk of a request for itself.
    if (isDone) giveBack(chunk);
    if (this.#isLeft || !intake.isOver(length, this.#nextTurn)) return;
    this.#isWaiting = true;
    this.#stream.pause();
  };

  readonly #nextTurn = (): void => {
    this.#isWaiting = false;
    this.#flow();
  };

  #flow(): void {
    if (!this.#isHeld && !this.#isWaiting && !this.#isLeft) this.#stream.resume();
  }

  readonly #end = (): void => this.#over();
  readonly #close = (): void => this.#over(new Error('the body ended early'));
  /** Heard for as long as the stream lives: an error that nobody hears ends the process. */
  readonly #break = (error: Error): void => this.#over(error);

  #over(error?: Error): void {
    if (this.#isLeft) return;
    this.leave();
    this.#reader.end(error);
  }
}
