/** The least and the most that a reader is sent at once. */
export const CHUNK_BYTES_MIN = 64 * 1024;
export const CHUNK_BYTES_MAX = 1024 * 1024;
const LARGE_MAX = 64;
const LARGE_KEPT = 16;

/**
 * Memory that transfers read into. Large reads cost the least per byte; few transfers need many buffers of
 * theirs at once, and where many do, each further one has to do with a small buffer.
 */
export class Buffers {
  readonly #free: Buffer[] = [];
  #large = 0;

  /** A buffer of at most that length, which goes back with `give`. */
  take(bytes: number): Buffer {
    if (bytes <= CHUNK_BYTES_MIN || this.#large >= LARGE_MAX)
      return Buffer.allocUnsafeSlow(Math.min(bytes, CHUNK_BYTES_MIN));
    this.#large += 1;
    const whole = this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES_MAX);
    return whole.subarray(0, Math.min(bytes, CHUNK_BYTES_MAX));
  }

  /** Only once nothing reads from it any more. */
  give(buffer: Buffer): void {
    if (buffer.buffer.byteLength !== CHUNK_BYTES_MAX) return;
    this.#large -= 1;
    if (this.#free.length < LARGE_KEPT) this.#free.push(Buffer.from(buffer.buffer));
  }
}
