import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Hashes, type RunningHashes, runningHashes } from './digests.ts';
import { type StoredObject, TooLarge } from './storage.ts';

/** Bodies arrive in chunks of a TLS record, and each write and each hash has a fixed cost. */
const GATHERED_BYTES = 256 * 1024;

/** Writes a body to a file and hashes it at the same time. */
export async function writeHashed(
  handle: FileHandle,
  body: AsyncIterable<Uint8Array> | Uint8Array,
  bytesMax: number,
): Promise<StoredObject> {
  const gathered = new Gathered(handle);
  let bytes = 0;
  try {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new TooLarge(`more than ${bytesMax} bytes`);
      for (let at = 0; at < chunk.byteLength; ) {
        at += gathered.take(chunk.subarray(at));
        if (gathered.isFull) await gathered.flush();
      }
    }
    return { bytes, ...(await gathered.end()) };
  } catch (error) {
    await gathered.abandon();
    throw error;
  }
}

/** Two buffers: one is filled while the other is written and hashed. A body that fits into one needs no thread. */
class Gathered {
  readonly #handle: FileHandle;
  #filling: Buffer = sharedBuffer();
  #resting: Buffer | undefined;
  #filled = 0;
  #hashes: RunningHashes | undefined;
  #flushing: Promise<unknown> = Promise.resolve();

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  get isFull(): boolean {
    return this.#filled === GATHERED_BYTES;
  }

  take(piece: Uint8Array): number {
    const taken = piece.subarray(0, GATHERED_BYTES - this.#filled);
    this.#filling.set(taken, this.#filled);
    this.#filled += taken.byteLength;
    return taken.byteLength;
  }

  /** Waits for the previous flush. */
  async flush(): Promise<void> {
    await this.#flushing;
    const full = this.#filling;
    this.#hashes ??= runningHashes();
    const bytes = full.subarray(0, this.#filled);
    this.#flushing = Promise.all([this.#handle.writeFile(bytes), this.#hashes.add(bytes)]);
    // The next await of the promise handles the failure.
    this.#flushing.catch(() => {});
    this.#filling = this.#resting ?? sharedBuffer();
    this.#resting = full;
    this.#filled = 0;
  }

  async end(): Promise<Hashes> {
    if (!this.#hashes) return this.#alone();
    if (this.#filled > 0) await this.flush();
    await this.#flushing;
    return this.#hashes.end();
  }

  async #alone(): Promise<Hashes> {
    const bytes = this.#filling.subarray(0, this.#filled);
    if (this.#filled > 0) await this.#handle.writeFile(bytes);
    const hash = (name: string) => createHash(name).update(bytes).digest('hex');
    return { md5: hash('md5'), sha256: hash('sha256') };
  }

  /** No write or hash may be running when the file is closed. */
  async abandon(): Promise<void> {
    await this.#flushing.catch(() => {});
    await this.#hashes?.end().catch(() => {});
  }
}

const sharedBuffer = () => Buffer.from(new SharedArrayBuffer(GATHERED_BYTES));
