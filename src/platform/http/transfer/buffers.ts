/** The smallest and largest chunk of a transfer. */
export const CHUNK_BYTES_MIN = 64 * 1024;
export const CHUNK_BYTES_MAX = 1024 * 1024;
const LARGE_MAX = 64;
const LARGE_KEPT = 16;

/** A pool of read buffers. Large reads are cheapest per byte; beyond the pool's limit transfers get small buffers. */
export class Buffers {
  readonly #free: Buffer[] = [];
  #large = 0;

  /** A buffer of at most this length; return it with `give`. */
  take(bytes: number): Buffer {
    if (bytes <= CHUNK_BYTES_MIN || this.#large >= LARGE_MAX)
      return Buffer.allocUnsafeSlow(Math.min(bytes, CHUNK_BYTES_MIN));
    this.#large += 1;
    const whole = this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES_MAX);
    return whole.subarray(0, Math.min(bytes, CHUNK_BYTES_MAX));
  }

  /** Call only after the last read from the buffer. */
  give(buffer: Buffer): void {
    if (buffer.buffer.byteLength !== CHUNK_BYTES_MAX) return;
    this.#large -= 1;
    if (this.#free.length < LARGE_KEPT) this.#free.push(Buffer.from(buffer.buffer));
  }
}
