import type { Readable } from 'node:stream';
import { type ChunkConsumer, StreamReader } from './stream-reader.ts';

/** Bodies arrive in chunks of a TLS record, and each processing step has a fixed cost per chunk. */
const BLOCK_BYTES = 64 * 1024;
/** The last chunk of a block may be as long as one socket read. */
const PIECE_BYTES_MAX = 64 * 1024;
/** Reuses blocks, because first use of fresh memory is slow. */
const SPARE_MAX = 16;
const spare: Buffer[] = [];

type Asked = PromiseWithResolvers<IteratorResult<Buffer, undefined>>;

/** Yields a stream in blocks. A block is valid until the next one is requested, because its memory is reused. */
export class Blocks implements ChunkConsumer, AsyncIterableIterator<Buffer, undefined> {
  readonly #inflow: StreamReader;
  readonly #onRoom: () => void;
  #block = spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES + PIECE_BYTES_MAX);
  #filled = 0;
  /** Received bytes that did not fit into the block. */
  #surplus: Buffer | undefined;
  #copied: Buffer | undefined;
  #isReady = false;
  #isLent = false;
  #isOver = false;
  #error: Error | undefined;
  #asked: Asked | undefined;

  constructor(stream: Readable, onRoom: () => void = () => {}) {
    this.#inflow = new StreamReader(stream, this);
    this.#onRoom = onRoom;
  }

  /** True when it accepts no bytes before the next block is requested. */
  get isFull(): boolean {
    return this.#isReady || this.#isLent;
  }

  /** True when the last bytes are these and were copied. */
  hasCopied({ buffer, byteOffset, length }: Buffer): boolean {
    const last = this.#copied;
    return last?.buffer === buffer && last.byteOffset === byteOffset && last.length === length;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const asked: Asked = Promise.withResolvers();
    this.#asked = asked;
    if (this.#isLent) this.#takeBack();
    this.#answer();
    return asked.promise;
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.leave();
    return { done: true, value: undefined };
  }

  /** Stops reading and ends the iteration. */
  leave(): void {
    this.#inflow.detach();
    this.#isReady = false;
    this.#isLent = false;
    this.#isOver = true;
    this.#answer();
    this.#onRoom();
  }

  take(chunk: Buffer): boolean {
    const copied = chunk.copy(this.#block, this.#filled);
    this.#filled += copied;
    const isWhole = copied === chunk.length;
    this.#copied = isWhole ? chunk : undefined;
    if (!isWhole) this.#surplus = chunk.subarray(copied);
    if (this.#filled >= BLOCK_BYTES) this.#offer();
    return isWhole;
  }

  end(error?: Error): void {
    this.#isOver = true;
    this.#error = error;
    if (this.#filled > 0 && !this.isFull) this.#offer();
    else this.#answer();
  }

  #offer(): void {
    this.#inflow.pause();
    this.#isReady = true;
    this.#answer();
  }

  #takeBack(): void {
    this.#isLent = false;
    this.#filled = 0;
    const surplus = this.#surplus;
    this.#surplus = undefined;
    if (surplus) this.take(surplus);
    if (this.#isReady) return;
    this.#inflow.resume();
    this.#onRoom();
  }

  #answer(): void {
    if (!this.#asked || !(this.#error || this.#isReady || this.#isOver)) return;
    const { resolve, reject } = this.#asked;
    this.#asked = undefined;
    if (this.#error) reject(this.#error);
    else if (this.#isReady) this.#lend(resolve);
    else this.#close(resolve);
  }

  #lend(resolve: Asked['resolve']): void {
    this.#isReady = false;
    this.#isLent = true;
    resolve({ done: false, value: this.#block.subarray(0, this.#filled) });
  }

  #close(resolve: Asked['resolve']): void {
    if (this.#block.length > 0 && spare.length < SPARE_MAX) spare.push(this.#block);
    this.#block = Buffer.alloc(0);
    resolve({ done: true, value: undefined });
  }
}
