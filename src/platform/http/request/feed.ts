import type { Readable, Writable } from 'node:stream';
import type { Blocks } from './blocks.ts';
import type { Framing } from './framing.ts';
import { Inflow, type Reader } from './inflow.ts';

/** Gives a body to its parser, at the pace of whoever reads what the parser finds. */
export class Feed implements Reader {
  readonly #parser: Writable;
  readonly #framing: Framing;
  readonly #inflow: Inflow;
  readonly #finished = Promise.withResolvers<void>();
  #givenBytes = 0;
  #isFinishing = false;
  #file: Blocks | undefined;

  constructor(body: Readable, parser: Writable, framing: Framing) {
    this.#parser = parser.on('drain', () => this.goOn());
    this.#framing = framing;
    this.#inflow = new Inflow(body, this);
  }

  /** Settles when the parser has read all, or when this was stopped. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** How many bytes the parser is done with, while it is not done with all. */
  get parsedBytes(): number | undefined {
    const { writableLength } = this.#parser;
    const isDone = writableLength === 0 && !this.#isFinishing;
    return isDone ? undefined : this.#givenBytes - writableLength;
  }

  /** The file that comes now. What it has no room for waits in the body: from there it comes to be copied at once. */
  fill(file: Blocks): void {
    this.#file = file;
  }

  goOn(): void {
    if (this.#hasRoom) this.#inflow.goOn();
  }

  stop(reason: unknown): void {
    this.#finished.reject(reason);
    this.#inflow.leave();
    this.#parser.destroy();
  }

  take(chunk: Buffer): boolean {
    const pieces = this.#framing.take(chunk);
    for (const piece of pieces) this.#give(piece);
    if (!this.#hasRoom) this.#inflow.hold();
    // All of the chunk is content of a file, which has its own copy.
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
    // To be told of each piece would cost a turn of the queue for each: `parsedBytes` looks.
    this.#parser.write(piece);
  }
}
