import { type Dir, readSync } from 'node:fs';
import {
  type FileHandle,
  opendir,
  open as openFile,
  readdir,
  rename,
  stat as statFile,
  statfs,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { localAssemblies } from './assemblies.ts';
import { digestOfFile } from './digests.ts';
import {
  ensureDirectory,
  moveIntoPlace,
  syncDirectory,
  toStorageError,
  unlessCode,
  writeTemporary,
} from './durable.ts';
import {
  type ByteRange,
  isKey,
  type OpenObject,
  requireKey,
  requirePrefix,
  type Storage,
  type StoredObject,
} from './storage.ts';
import { writeHashed } from './writing.ts';

const leftoverAgeMs = 60 * 60 * 1000;

export interface LocalOptions {
  /** The reserve for the database and others on the disk, which `room` subtracts. */
  readonly bytesKept?: number;
}

/** Files in a folder, each at its key. Unlike in S3, a key cannot also be the folder of another. */
export function localStorage(folder: string, { bytesKept = 0 }: LocalOptions = {}): Storage {
  const temporaries = join(folder, '.tmp');
  const pathOf = (key: string) => join(folder, requireKey(key));
  return {
    put: async (key, body, options = {}) => put(temporaries, pathOf(key), body, options.bytesMax ?? Infinity),
    open: async (key, range) => open(pathOf(key), range),
    read: async (key) => hold(pathOf(key)),
    path: pathOf,
    stat: async (key) => stat(pathOf(key)),
    move: async (from, to) => move(pathOf(from), pathOf(to)),
    remove: async (key) => remove(pathOf(key)),
    list: (prefix) => list(folder, prefix),
    check: () => check(temporaries),
    room: () => room(folder, bytesKept),
    assemblies: localAssemblies({ folder: join(folder, '.parts'), pathOf, remove }),
  };
}

async function put(
  temporaries: string,
  path: string,
  body: AsyncIterable<Uint8Array> | Uint8Array,
  bytesMax: number,
): Promise<StoredObject> {
  try {
    await Promise.all([ensureDirectory(temporaries), ensureDirectory(dirname(path))]);
    let stored: StoredObject | undefined;
    const temporary = await writeTemporary(temporaries, async (handle) => {
      stored = await writeHashed(handle, body, bytesMax);
    });
    await moveIntoPlace(temporary, path);
    return stored!;
  } catch (error) {
    throw toStorageError(error);
  }
}

async function open(path: string, range?: ByteRange): Promise<{ stream: Readable; bytes: number } | undefined> {
  const handle = await openFile(path, 'r').catch(unlessCode('ENOENT', 'ENOTDIR'));
  if (!handle) return undefined;
  try {
    const found = await handle.stat();
    if (found.isFile()) return read(handle, found.size, range);
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

function read(handle: FileHandle, size: number, range?: ByteRange): { stream: Readable; bytes: number } {
  if (!range) return { stream: handle.createReadStream(), bytes: size };
  const end = Math.min(range.end, size - 1);
  if (!(range.start >= 0 && range.start <= end)) throw new RangeError(`no such range in ${size} bytes`);
  return { stream: handle.createReadStream({ start: range.start, end }), bytes: end - range.start + 1 };
}

/** With larger reads, many concurrent transfers would evict each other's data from the CPU cache before it is sent. */
const READ_BYTES = 256 * 1024;

async function hold(path: string): Promise<OpenObject | undefined> {
  const handle = await openFile(path, 'r').catch(unlessCode('ENOENT', 'ENOTDIR'));
  const found = await handle?.stat();
  if (!handle || !found?.isFile()) {
    await handle?.close();
    return undefined;
  }
  return {
    bytes: found.size,
    dateModified: Math.floor(found.mtimeMs / 1000),
    version: `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`,
    readBytes: READ_BYTES,
    readInto: async (buffer, position) => (await handle.read(buffer, 0, buffer.byteLength, position)).bytesRead,
    readNow: (buffer, position) => readSync(handle.fd, buffer, 0, buffer.byteLength, position),
    digest: () => digestOfFile(path),
    close: () => handle.close(),
  };
}

async function stat(path: string): Promise<{ bytes: number } | undefined> {
  const found = await statFile(path).catch(unlessCode('ENOENT', 'ENOTDIR'));
  return found?.isFile() ? { bytes: found.size } : undefined;
}

/** The new name becomes durable before the old one disappears. */
async function move(from: string, to: string): Promise<void> {
  try {
    await ensureDirectory(dirname(to));
    await rename(from, to);
    await syncDirectory(dirname(to));
    await syncDirectory(dirname(from));
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Empty folders stay, because removing one could break a concurrent `put` that moves its file there. */
async function remove(path: string): Promise<void> {
  if (!(await stat(path))) return;
  await unlink(path).catch(unlessCode('ENOENT'));
  await syncDirectory(dirname(path));
}

async function* list(folder: string, prefix: string): AsyncGenerator<string> {
  const parent = requirePrefix(prefix).slice(0, prefix.lastIndexOf('/') + 1);
  yield* walk(folder, parent, prefix);
}

async function* walk(folder: string, parent: string, prefix: string): AsyncGenerator<string> {
  const directory: Dir | undefined = await opendir(join(folder, parent)).catch(unlessCode('ENOENT', 'ENOTDIR'));
  if (!directory) return;
  for await (const entry of directory) {
    const key = parent + entry.name;
    if (!isKey(key) || !key.startsWith(prefix)) continue;
    if (entry.isDirectory()) yield* walk(folder, `${key}/`, prefix);
    else if (entry.isFile()) yield key;
  }
}

async function room(folder: string, bytesKept: number): Promise<number> {
  await ensureDirectory(folder);
  const { bavail, bsize } = await statfs(folder);
  return Math.max(0, bavail * bsize - bytesKept);
}

async function check(temporaries: string): Promise<void> {
  try {
    await ensureDirectory(temporaries);
    await unlink(await writeTemporary(temporaries, (handle) => handle.writeFile('writable')));
    await removeLeftovers(temporaries);
  } catch (error) {
    throw toStorageError(error);
  }
}

/** A temporary file that is unchanged for this long belongs to a dead process. */
async function removeLeftovers(temporaries: string): Promise<void> {
  for (const name of await readdir(temporaries)) {
    const path = join(temporaries, name);
    const found = await statFile(path).catch(unlessCode('ENOENT'));
    // The age comes from the file system, so it is compared with the system clock.
    if (found && Date.now() - found.mtimeMs > leftoverAgeMs) await unlink(path).catch(unlessCode('ENOENT'));
  }
}
