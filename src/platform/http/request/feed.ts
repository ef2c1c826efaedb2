import type { Readable, Writable } from 'node:stream';
import type { Blocks } from './blocks.ts';
import type { Framing } from './framing.ts';
import { type ChunkConsumer, StreamReader } from './stream-reader.ts';

/** Writes a body to its parser, at the speed of the consumer of the parser's output. */
export class Feed implements ChunkConsumer {
  readonly #parser: Writable;
  readonly #framing: Framing;
  readonly #body: StreamReader;
  readonly #finished = Promise.withResolvers<void>();
  #givenBytes = 0;
  #isFinishing = false;
  #file: Blocks | undefined;

  constructor(body: Readable, parser: Writable, framing: Framing) {
    this.#parser = parser.on('drain', () => this.resume());
    this.#framing = framing;
    this.#body = new StreamReader(body, this);
  }

  /** Settles when the parser has finished or was stopped. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** The number of parsed bytes; undefined when all are parsed. */
  get parsedBytes(): number | undefined {
    const { writableLength } = this.#parser;
    const isDone = writableLength === 0 && !this.#isFinishing;
    return isDone ? undefined : this.#givenBytes - writableLength;
  }

  /** The file being received. Bytes that do not fit stay in the body, from where they are copied once. */
  fill(file: Blocks): void {
    this.#file = file;
  }

  resume(): void {
    if (this.#hasRoom) this.#body.resume();
  }

  stop(reason: unknown): void {
    this.#finished.reject(reason);
    this.#body.detach();
    this.#parser.destroy();
  }

  take(chunk: Buffer): boolean {
    const pieces = this.#framing.take(chunk);
    for (const piece of pieces) this.#give(piece);
    if (!this.#hasRoom) this.#body.pause();
    // The whole chunk is file content that was copied.
    return pieces.length === 1 && pieces[0]!.length === chunk.length && Boolean(this.#file?.hasCopied(chunk));
  }

  end(error?: Error): void {
    if (error) this.stop(error);
    else this.#finish();
  }

  #finish(): void {
    this.#isFinishing = true;
    this.#parser.once('finish', this.#finished.resolve);
    this.#give(this.#framing.end());
    this.#parser.end();
  }

  get #hasRoom(): boolean {
    return !this.#parser.writableNeedDrain && !this.#file?.isFull;
  }

  #give(piece: Buffer): void {
    this.#givenBytes += piece.length;
    // A write callback would cost a queue tick per chunk, so `parsedBytes` polls instead.
    this.#parser.write(piece);
  }
}
