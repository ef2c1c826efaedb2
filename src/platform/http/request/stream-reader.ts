import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { freeBuffer } from '../../runtime/memory.ts';
import { bodyThrottle } from './body-throttle.ts';

export interface ChunkConsumer {
  /** Returns true when the chunk's memory can be freed. */
  take(chunk: Buffer): boolean;
  /** Called once, at the end of the stream or on its failure. */
  end(error?: Error): void;
}

export const endedEarly = () => new Error('the body ended early');

/**
 * Reads a stream by callbacks, since a promise per chunk is too expensive at ten thousand chunks a second. Request
 * bodies share the limit of `bodyThrottle`; detaching does not destroy the stream, because its socket must carry the
 * response. A client may disconnect before its body is read; a destroyed stream emits nothing more.
 */
export class StreamReader {
  readonly #stream: Readable;
  readonly #consumer: ChunkConsumer;
  readonly #isRequest: boolean;
  #isPaused = false;
  #isThrottled = false;
  #isDetached = false;

  constructor(stream: Readable, reader: ChunkConsumer) {
    this.#stream = stream;
    this.#consumer = reader;
    this.#isRequest = stream instanceof IncomingMessage;
    stream.on('error', this.#break).once('close', this.#close).once('end', this.#end).on('data', this.#take);
    if (stream.destroyed) process.nextTick(this.#close);
  }

  /** Stops the flow until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow();
  }

  detach(): void {
    if (this.#isDetached) return;
    this.#isDetached = true;
    this.#stream.off('data', this.#take).off('end', this.#end).off('close', this.#close).pause();
  }

  readonly #take = (chunk: Buffer): void => {
    const { length } = chunk;
    const isDone = this.#consumer.take(chunk);
    if (!this.#isRequest) return;
    // Node.js allocates each chunk of a request separately.
    if (isDone) freeBuffer(chunk);
    if (this.#isDetached || !bodyThrottle.mustPause(length, this.#endThrottling)) return;
    this.#isThrottled = true;
    this.#stream.pause();
  };

  readonly #endThrottling = (): void => {
    this.#isThrottled = false;
    this.#flow();
  };

  #flow(): void {
    if (!this.#isPaused && !this.#isThrottled && !this.#isDetached) this.#stream.resume();
  }

  readonly #end = (): void => this.#finish();
  readonly #close = (): void => this.#finish(endedEarly());
  /** Stays attached for the life of the stream, because an unhandled error ends the process. */
  readonly #break = (error: Error): void => this.#finish(error);

  #finish(error?: Error): void {
    if (this.#isDetached) return;
    this.detach();
    this.#consumer.end(error);
  }
}
