import type { FileHandle } from 'node:fs/promises';
import type { OpenObject, Storage } from '../storage/storage.ts';
import { ArchiveProblem } from './problem.ts';

/** Random access to bytes that are never in memory as a whole. */
export interface ArchiveSource {
  readonly bytes: number;
  /** Returns exactly these bytes, which must be within the source. A file reads them into `lent` if it is given. */
  read(position: number, length: number, lent?: Buffer): Promise<Buffer>;
}

type Read = ArchiveSource['read'];

const roomFor = (length: number, lent?: Buffer): Buffer => lent?.subarray(0, length) ?? Buffer.allocUnsafe(length);

export async function fileSource(handle: FileHandle): Promise<ArchiveSource> {
  const { size } = await handle.stat();
  const read: Read = async (position, length, lent) => {
    const buffer = roomFor(length, lent);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
      if (bytesRead === 0) throw new Error(`the file ends before byte ${position + length}`);
      done += bytesRead;
    }
    return buffer;
  };
  return { bytes: size, read };
}

/** Sequential reads of a stored object fetch ranges of this length, because each range is a request to S3. */
const AHEAD_BYTES = 4 * 1024 ** 2;

/** A stored object, read in ranges. It needs no close: each read opens the file anew, and S3 needs no handle. */
export async function storedSource(storage: Storage, key: string): Promise<ArchiveSource | undefined> {
  const object = await storage.read(key);
  if (!object) return undefined;
  // On a disk a small read is as fast as a large one and takes less memory.
  if (!storage.path) return { bytes: object.bytes, read: readingAhead(key, object) };
  await object.close();
  return { bytes: object.bytes, read: reopening(storage, key) };
}

function reopening(storage: Storage, key: string): Read {
  return async (position, length, lent) => {
    const object = await storage.read(key);
    if (!object) throw new Error(`${key} is gone`);
    try {
      const buffer = roomFor(length, lent);
      await fill(key, object, buffer, position);
      return buffer;
    } finally {
      await object.close();
    }
  };
}

async function fill(key: string, object: OpenObject, buffer: Buffer, position: number): Promise<void> {
  const bytes = await object.readInto(buffer, position);
  if (bytes !== buffer.length) throw new Error(`${key} gave ${bytes} bytes instead of ${buffer.length}`);
}

/** Returns copies of the read-ahead data, because the reader may use them longer. */
function readingAhead(key: string, object: OpenObject): Read {
  let buffer: Buffer = Buffer.alloc(0);
  let held: Buffer = Buffer.alloc(0);
  let start = 0;
  let end = -1;
  const hold = async (position: number, length: number) => {
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length);
    held = Buffer.alloc(0);
    const into = buffer.subarray(0, length);
    await fill(key, object, into, position);
    [held, start] = [into, position];
  };
  return async (position, length, lent) => {
    const isNext = position === end;
    end = position + length;
    if (position < start || end > start + held.length)
      await hold(position, isNext ? Math.max(length, Math.min(AHEAD_BYTES, object.bytes - position)) : length);
    const found = held.subarray(position - start, end - start);
    if (!lent) return Buffer.from(found);
    return lent.subarray(0, found.copy(lent));
  };
}

/** A part of a source as a source of its own. */
export const sliceOf = (source: ArchiveSource, start: number, bytes: number): ArchiveSource => ({
  bytes,
  read: (position, length, lent) => source.read(start + position, length, lent),
});

export const WINDOW_BYTES = 256 * 1024;

/** Reads ahead, because archives are read sequentially in small steps. */
export class Window {
  readonly #source: ArchiveSource;
  #held: Buffer = Buffer.alloc(0);
  #start = 0;
  #lent: Buffer | undefined;

  constructor(source: ArchiveSource) {
    this.#source = source;
  }

  /** The bytes if they are already in memory, which avoids a promise for most reads. */
  held(position: number, length: number): Buffer | undefined {
    const from = position - this.#start;
    return from >= 0 && from + length <= this.#held.length ? this.#held.subarray(from, from + length) : undefined;
  }

  /** Exactly these bytes. An archive that points past its end is damaged. */
  async read(position: number, length: number): Promise<Buffer> {
    if (position < 0 || position + length > this.#source.bytes) throw new ArchiveProblem('damaged');
    const held = this.held(position, length);
    if (held) return held;
    const wanted = Math.max(length, Math.min(WINDOW_BYTES, this.#source.bytes - position));
    this.#held = await this.#source.read(position, wanted);
    this.#start = position;
    return this.#held.subarray(0, length);
  }

  /** Between one and `lengthMax` bytes, valid only until the next call, because their memory is reused. */
  async some(position: number, lengthMax: number): Promise<Buffer> {
    const from = position - this.#start;
    if (from >= 0 && from < this.#held.length) return this.#held.subarray(from, from + lengthMax);
    const length = Math.min(lengthMax, WINDOW_BYTES, this.#source.bytes - position);
    if (length <= 0) throw new ArchiveProblem('damaged');
    this.#lent ??= Buffer.allocUnsafeSlow(WINDOW_BYTES);
    return this.#source.read(position, length, this.#lent);
  }
}

export const bufferSource = (buffer: Buffer): ArchiveSource => ({
  bytes: buffer.length,
  read: async (position, length) => buffer.subarray(position, position + length),
});
