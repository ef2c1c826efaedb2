import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename } from 'node:fs/promises';
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

/**
 * One sparse file for each assembly: parts are written at their offsets, and `finish` renames the file. Handles name the
 * files, so that a request that begins late never writes to the file of another.
 */
export function localAssemblies({ folder, pathOf, remove }: Place): Assemblies {
  const turns = new ConcurrencyLimit(HASHING_MAX);
  const nameOf = (key: string) => requireKey(key).replaceAll('/', '+');
  // No key contains a tilde. Assemblies of version 0.2.0 have an empty handle.
  const partialOf = ({ key, handle }: Assembly) =>
    join(folder, handle === '' ? nameOf(key) : `${nameOf(key)}~${handle}`);
  return {
    partBytes: PART_BYTES,
    begin: async (key) => {
      const handle = randomBytes(8).toString('hex');
      await make(folder, partialOf({ key, handle }));
      return handle;
    },
    putPart: async (assembly, { start }, body) => {
      await write({ folder, partial: partialOf(assembly), path: pathOf(assembly.key) }, start, body);
      return '';
    },
    finish: (assembly, parts, begun) =>
      turns.run(async () => {
        await begun?.();
        return finish(partialOf(assembly), pathOf(assembly.key), parts).catch((error) => {
          throw toStorageError(error);
        });
      }),
    // A process may have ended before it recorded the handle, so this finds the files by their key.
    discard: async ({ key }) => {
      const names = (await readdir(folder).catch(unlessCode('ENOENT'))) ?? [];
      for (const name of names)
        if (name === nameOf(key) || name.startsWith(`${nameOf(key)}~`)) await remove(join(folder, name));
      await remove(pathOf(key));
    },
    abandon: (assembly) => remove(partialOf(assembly)),
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

interface Files {
  readonly folder: string;
  readonly partial: string;
  /** The file of the finished object. */
  readonly path: string;
}

async function write(files: Files, start: number, body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    const handle = await openPartial(files);
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

/** Creates a lost file again, so that its parts can be sent again. A finished object has all of them. */
async function openPartial({ folder, partial, path }: Files): Promise<FileHandle> {
  const handle = await open(partial, 'r+').catch(unlessCode('ENOENT'));
  if (handle) return handle;
  if (await exists(path)) throw new Error('the object is finished and takes no further parts');
  await make(folder, partial);
  return open(partial, 'r+');
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

async function finish(partial: string, path: string, parts: readonly StoredPart[]): Promise<StoredObject> {
  // Another request may have renamed the file, also after a process crashed between the rename and recording it.
  const waiting = await hash(partial, parts);
  const found = waiting ?? (await hash(path, parts));
  const damaged = parts.filter(({ sha256 }, index) => found?.parts[index] !== sha256);
  if (!found || damaged.length > 0) {
    // The sound parts stay, and the others are written into the same file.
    if (!waiting) await rename(path, partial).catch(unlessCode('ENOENT'));
    throw new PartsDamaged(damaged.map(({ number }) => number));
  }
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (waiting) {
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

type Hashes = Extract<HashAnswer, { md5: string }>;
/** These take two milliseconds, and starting a thread takes forty. */
const HASHED_HERE_BYTES = 256 * 1024;

/** Undefined if there is no such file. */
async function hash(path: string, parts: readonly StoredPart[]): Promise<Hashes | undefined> {
  const lengths = parts.map(({ bytes }) => bytes);
  const [first = 0] = lengths;
  const isSmall = lengths.length === 1 && first > 0 && first <= HASHED_HERE_BYTES;
  return isSmall ? hashHere(path, first) : hashInThread({ path, lengths });
}

/** The file may have bytes of an aborted attempt after its only part. */
async function hashHere(path: string, bytes: number): Promise<Hashes | undefined> {
  const file = await open(path, 'r').catch(unlessCode('ENOENT'));
  if (!file) return undefined;
  const whole = { md5: createHash('md5'), sha256: createHash('sha256') };
  for await (const chunk of file.createReadStream({ start: 0, end: bytes - 1 })) {
    whole.md5.update(chunk);
    whole.sha256.update(chunk);
  }
  const sha256 = whole.sha256.digest('hex');
  return { md5: whole.md5.digest('hex'), sha256, parts: [sha256] };
}

/** Twenty gigabytes take a minute of CPU time. */
function hashInThread(request: HashRequest): Promise<Hashes | undefined> {
  const worker = new Worker(new URL('./hashing.ts', import.meta.url), { workerData: request, resourceLimits: HEAP });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: HashAnswer) => {
      if ('md5' in answer) resolve(answer);
      else if (answer.code === 'ENOENT') resolve(undefined);
      else reject(Object.assign(new Error(answer.message), { code: answer.code }));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`hashing ended with ${code}`)));
  });
}
