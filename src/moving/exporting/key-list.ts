import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Names of stored objects in a temporary file, because there may be millions of them. */
export interface KeyList {
  all(): AsyncIterable<string>;
  remove(): Promise<void>;
}

export async function keepKeys(keys: AsyncIterable<string>): Promise<KeyList> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-export-keys-'));
  const path = join(folder, 'keys');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(Readable.from(linesOf(keys)), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { all: () => createInterface({ input: createReadStream(path) }), remove };
}

async function* linesOf(keys: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const key of keys) yield `${key}\n`;
}
