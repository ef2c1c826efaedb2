import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { ensureDirectory, syncDirectory, toStorageError, unlessCode } from './durable.ts';
import type { HashAnswer, HashRequest } from './hashing.ts';
import {
  type Assemblies,
  type Assembly,
  PART_BYTES,
  PartsDamaged,
  requireKey,
  type StoredObject,
  type StoredPart,
} from './storage.ts';

interface Place {
  /** The folder of incomplete files, which no key leads to. */
  readonly folder: string;
  pathOf(key: string): string;
  remove(path: string): Promise<void>;
}

/** Each hash occupies one CPU core. */
const HASHING_MAX = 2;
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };
const WRITE_BYTES = 256 * 1024;

/** One sparse file for each assembly: parts are written at their offsets, and `finish` renames the file. */
export function localAssemblies({ folder, pathOf, remove }: Place): Assemblies {
  const turns = new ConcurrencyLimit(HASHING_MAX);
  const partialOf = (key: string) => join(folder, requireKey(key).replaceAll('/', '+'));
  return {
    partBytes: PART_BYTES,
    begin: async (key) => {
      await make(folder, partialOf(key));
      return '';
    },
    putPart: async ({ key }, { start }, body) => {
      await write(folder, partialOf(key), start, body);
      return '';
    },
    finish: ({ key }, parts, begun) =>
      turns.run(async () => {
        await begun?.();
        return finish(partialOf(key), pathOf(key), parts).catch((error) => {
          throw toStorageError(error);
        });
      }),
    discard: async ({ key }: Assembly) => {
      await remove(partialOf(key));
      await remove(pathOf(key));
    },
    // A key has one file, whichever handle started it.
    abandon: async () => {},
  };
}

async function make(folder: string, path: string): Promise<void> {
  try {
    await ensureDirectory(folder);
    const handle = await open(path, 'wx').catch(unlessCode('EEXIST'));
    await handle?.close();
    await syncDirectory(folder);
  } catch (error) {
    throw toStorageError(error);
  }
}

async function write(folder: string, path: string, start: number, body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    const handle = await openPartial(folder, path);
    try {
      await writeAt(handle, start, body);
      // A failed fsync is never repeated, as in `writeTemporary`.
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Creates a lost file again, so that its parts can be sent again. */
async function openPartial(folder: string, path: string): Promise<FileHandle> {
  const handle = await open(path, 'r+').catch(unlessCode('ENOENT'));
  if (handle) return handle;
  await make(folder, path);
  return open(path, 'r+');
}

/**
 * Sockets yield small chunks, and each write costs a round trip to the thread pool, so chunks are collected in one
 * buffer.
 */
async function writeAt(handle: FileHandle, start: number, body: AsyncIterable<Uint8Array>): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let position = start;
  let filled = 0;
  const flush = async () => {
    await writeAll(handle, buffer.subarray(0, filled), position);
    position += filled;
    filled = 0;
  };
  for await (const chunk of body)
    for (let taken = 0; taken < chunk.byteLength; ) {
      const piece = chunk.subarray(taken, taken + WRITE_BYTES - filled);
      buffer.set(piece, filled);
      filled += piece.byteLength;
      taken += piece.byteLength;
      if (filled === WRITE_BYTES) await flush();
    }
  await flush();
}

/** A nearly full disk writes a part of the buffer, and reports ENOSPC only for the rest. */
async function writeAll(handle: FileHandle, buffer: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < buffer.length)
    written += (await handle.write(buffer, written, buffer.length - written, position + written)).bytesWritten;
}

/** The process may have crashed between the rename and recording it. */
async function finish(partial: string, path: string, parts: readonly StoredPart[]): Promise<StoredObject> {
  const isWaiting = await exists(partial);
  const found = await hash(isWaiting ? partial : path, parts);
  const damaged = parts.filter(({ sha256 }, index) => found.parts[index] !== sha256);
  if (damaged.length > 0) throw new PartsDamaged(damaged.map(({ number }) => number));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (isWaiting) {
    await cut(partial, bytes);
    await ensureDirectory(dirname(path));
    await rename(partial, path).catch(unlessCode('ENOENT'));
    await syncDirectory(dirname(path));
    await syncDirectory(dirname(partial));
    if (!(await exists(path))) throw new Error('the parts were removed while they were put together');
  }
  return { bytes, md5: found.md5, sha256: found.sha256 };
}

/** An aborted attempt may have left bytes after the last part. */
async function cut(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'r+').catch(unlessCode('ENOENT'));
  if (!handle) return;
  try {
    await handle.truncate(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  const handle = await open(path, 'r').catch(unlessCode('ENOENT'));
  await handle?.close();
  return handle !== undefined;
}

/** In its own thread, because twenty gigabytes take a minute of CPU time. */
function hash(path: string, parts: readonly StoredPart[]): Promise<Extract<HashAnswer, { md5: string }>> {
  const request: HashRequest = { path, lengths: parts.map(({ bytes }) => bytes) };
  const worker = new Worker(new URL('./hashing.ts', import.meta.url), { workerData: request, resourceLimits: HEAP });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: HashAnswer) => {
      if ('md5' in answer) resolve(answer);
      else if (answer.code === 'ENOENT') reject(new PartsDamaged(parts.map(({ number }) => number)));
      else reject(Object.assign(new Error(answer.message), { code: answer.code }));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`hashing ended with ${code}`)));
  });
}
