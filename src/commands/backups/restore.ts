import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { databaseUrl } from '../../composition/compose.ts';
import { BrokenArchive, type Entry, readTar } from '../../platform/archives/tar.ts';
import type { Settings } from '../../platform/config/settings.ts';
import { syncDirectory, unlessCode } from '../../platform/storage/durable.ts';
import { isKey } from '../../platform/storage/storage.ts';
import { misuse, Refusal } from '../invocation/command.ts';
import { type LoadedRows, loadRows } from './rows.ts';
import { ABOUT, type AboutBackup, ROWS } from './save.ts';

export interface Restored {
  readonly about: AboutBackup;
  readonly files: number;
}

const FILE = /^(?:production|sandbox)\/files\/(.+)$/;
const OTHER = /^(?:secret|tls\/[\w-][\w.-]*|(?:production|sandbox)\/(?:modstead\.sqlite|rows))$/;

/** Restores a backup into an empty or missing data folder and databases, completely or not at all. */
export async function restore(settings: Settings, file: string): Promise<Restored> {
  const data = resolve(settings.data);
  await requireEmpty(data);
  const partial = `${data}.restoring-${process.pid}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const loaded: LoadedRows[] = [];
  try {
    const restored = await unpack(file, partial, settings);
    for (const environment of restored.about.environments) {
      const rows = join(partial, environment, ROWS);
      if (existsSync(rows)) loaded.push(await loadRows(databaseUrl(settings, environment)!, rows));
      await rm(rows, { force: true });
    }
    await rmdir(data).catch(unlessCode('ENOENT'));
    await rename(partial, data);
    await syncDirectory(dirname(data));
    for (const rows of loaded.splice(0)) await rows.commit();
    return restored;
  } catch (error) {
    await Promise.all(loaded.map((rows) => rows.abandon()));
    await rm(partial, { recursive: true, force: true });
    if (error instanceof BrokenArchive) throw new Refusal(`${file} is not a complete backup: ${error.message}.`);
    throw error;
  }
}

async function requireEmpty(data: string): Promise<void> {
  const names = await readdir(data).catch(unlessCode('ENOENT'));
  if (names && names.length > 0)
    throw new Refusal(`The data folder ${data} is not empty; move it away, or set MODSTEAD_DATA to another one.`);
}

async function unpack(file: string, folder: string, settings: Settings): Promise<Restored> {
  let about: AboutBackup | undefined;
  let files = 0;
  const take = async ({ name }: Entry, content: AsyncIterable<Uint8Array>) => {
    if (!about) {
      if (name !== ABOUT) throw new BrokenArchive('it does not begin like one');
      about = JSON.parse(Buffer.concat(await Array.fromAsync(content)).toString()) as AboutBackup;
      requireFitting(about, settings);
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

function requireFitting({ files, database = 'sqlite' }: AboutBackup, settings: Settings): void {
  if (files && settings.storage)
    throw misuse(
      'The backup contains files, but MODSTEAD_STORAGE_URL names a bucket for files; unset it to restore the backup.',
    );
  if (database === 'postgres' && !settings.databaseUrl)
    throw misuse('The backup is of a PostgreSQL database; set MODSTEAD_DATABASE_URL to an empty one.');
  if (database === 'sqlite' && settings.databaseUrl)
    throw misuse('The backup is of an embedded database; unset MODSTEAD_DATABASE_URL to restore it.');
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
