import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TarWriter } from '../../platform/archives/tar.ts';
import { moveIntoPlace, syncDirectory } from '../../platform/storage/durable.ts';

type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Where an archive is written. `finish` makes it complete; without it nothing looks like an archive. */
export interface Sink {
  /** Returns the SHA-256 of the content, in hexadecimal. */
  add(name: string, bytes: number, content: Content): Promise<string>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** A folder, complete once it has a manifest, which is written last. */
export async function folderSink(folder: string): Promise<Sink> {
  await mkdir(folder, { mode: 0o700 });
  return {
    add: async (name, _, content) => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const hash = createHash('sha256');
      await pipeline(hashed(content, hash), createWriteStream(path, { mode: 0o600, flush: true }));
      return hash.digest('hex');
    },
    finish: () => syncDirectory(folder),
    abandon: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One tar file, or with `-` the standard output. */
export async function tarSink(path: string, seconds: number): Promise<Sink> {
  const isStream = path === '-';
  const partial = isStream ? '/dev/stdout' : `${path}.partial`;
  const handle: FileHandle = await open(partial, isStream ? 'w' : 'wx', 0o600);
  const tar = new TarWriter(handle, seconds);
  return {
    add: async (name, bytes, content) => {
      const hash = createHash('sha256');
      await tar.add({ name, bytes }, hashed(content, hash));
      return hash.digest('hex');
    },
    finish: async () => {
      await tar.end();
      if (!isStream) await handle.sync();
      await handle.close();
      if (!isStream) await moveIntoPlace(partial, path);
    },
    abandon: async () => {
      await handle.close();
      if (!isStream) await rm(partial, { force: true });
    },
  };
}

async function* hashed(content: Content, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}
