import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Settings } from '../../config/settings.ts';
import { syncDirectory, unlessCode } from '../../storage/durable.ts';
import { isKey } from '../../storage/storage.ts';
import { misuse, Refusal } from '../command.ts';
import { ABOUT, type AboutBackup } from './save.ts';
import { BrokenArchive, type Entry, readTar } from './tar.ts';

export interface Restored {
  readonly about: AboutBackup;
  readonly files: number;
}

const FILE = /^(?:production|sandbox)\/files\/(.+)$/;
const OTHER = /^(?:secret|tls\/[\w-][\w.-]*|(?:production|sandbox)\/modstead\.sqlite)$/;

/** Puts a backup into a data folder that is empty or not there yet, as a whole or not at all. */
export async function restore(settings: Settings, file: string): Promise<Restored> {
  const data = resolve(settings.data);
  await requireEmpty(data);
  const partial = `${data}.restoring-${process.pid}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const restored = await unpack(file, partial, settings.storage !== undefined);
    await rmdir(data).catch(unlessCode('ENOENT'));
    await rename(partial, data);
    await syncDirectory(dirname(data));
    return restored;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (error instanceof BrokenArchive) throw new Refusal(`${file} is not a whole backup: ${error.message}.`);
    throw error;
  }
}

async function requireEmpty(data: string): Promise<void> {
  const names = await readdir(data).catch(unlessCode('ENOENT'));
  if (names && names.length > 0)
    throw new Refusal(`The data folder ${data} is not empty; move it away, or set MODSTEAD_DATA to another one.`);
}

async function unpack(file: string, folder: string, inBucket: boolean): Promise<Restored> {
  let about: AboutBackup | undefined;
  let files = 0;
  const take = async ({ name }: Entry, content: AsyncIterable<Uint8Array>) => {
    if (!about) {
      if (name !== ABOUT) throw new BrokenArchive('it does not begin as one');
      about = JSON.parse(Buffer.concat(await Array.fromAsync(content)).toString()) as AboutBackup;
      if (about.files && inBucket)
        throw misuse('The backup holds files, and MODSTEAD_STORAGE_URL names a bucket for them; restore it without.');
      return;
    }
    const [, key] = FILE.exec(name) ?? [];
    if (key === undefined ? !OTHER.test(name) : !isKey(key))
      throw new BrokenArchive(`it holds ${JSON.stringify(name)}`);
    await write(join(folder, name), content);
    if (key !== undefined) files += 1;
  };
  await readTar(createReadStream(file, { highWaterMark: 1024 ** 2 }), take);
  if (!about) throw new BrokenArchive('it is empty');
  return { about, files };
}

async function write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(content, createWriteStream(path, { mode: 0o600 }));
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
