import type { FileHandle } from 'node:fs/promises';
import type { OpenObject, Storage } from '../storage/storage.ts';
import { ArchiveProblem } from './problem.ts';

/** Bytes that are read where they are needed; nobody holds all of them. */
export interface ArchiveSource {
  readonly bytes: number;
  /** Exactly these bytes, which are within the source; those of a file are read into memory that is lent for it. */
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

/** What is read on from where the last read ended is fetched in ranges of this length: each is a request to a bucket. */
const AHEAD_BYTES = 4 * 1024 ** 2;

/** An object of the storage, read in ranges. Nobody closes a source: a file is opened for each read, and a bucket holds none. */
export async function storedSource(storage: Storage, key: string): Promise<ArchiveSource | undefined> {
  const object = await storage.read(key);
  if (!object) return undefined;
  // From a disk little is read as fast as much, and holds less memory.
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

/** What was read ahead stays here, and is copied: whoever asked may keep theirs for longer. */
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

/** A piece of a source as a source of its own. */
export const sliceOf = (source: ArchiveSource, start: number, bytes: number): ArchiveSource => ({
  bytes,
  read: (position, length, lent) => source.read(start + position, length, lent),
});

export const WINDOW_BYTES = 256 * 1024;

/** Reads ahead, because archives are read from front to back, in small pieces. */
export class Window {
  readonly #source: ArchiveSource;
  #held: Buffer = Buffer.alloc(0);
  #start = 0;
  #lent: Buffer | undefined;

  constructor(source: ArchiveSource) {
    this.#source = source;
  }

  /** The bytes if they are here already: most are, and then nobody has to wait. */
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

  /** Up to that many bytes, and at least one: lent until the next are asked for, as their memory is used again. */
  async some(position: number, lengthMax: number): Promise<Buffer> {
    const from = position - this.#start;
    if (from >= 0 && from < this.#held.length) return this.#held.subarray(from, from + lengthMax);
    const length = Math.min(lengthMax, WINDOW_BYTES, this.#source.bytes - position);
    if (length <= 0) throw new ArchiveProblem('damaged');
    this.#lent ??= Buffer.allocUnsafeSlow(WINDOW_BYTES);
    return this.#source.read(position, length, this.#lent);
  }
}

/** Bytes that are in memory anyway. */
export const bufferSource = (buffer: Buffer): ArchiveSource => ({
  bytes: buffer.length,
  read: async (position, length) => buffer.subarray(position, position + length),
});
