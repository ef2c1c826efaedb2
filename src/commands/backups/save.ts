import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import about from '../../../package.json' with { type: 'json' };
import { composeStorage, databaseUrl } from '../../composition/compose.ts';
import { TarWriter } from '../../platform/archives/tar.ts';
import type { Environment } from '../../platform/config/addresses.ts';
import { folderOf } from '../../platform/config/folders.ts';
import type { Settings } from '../../platform/config/settings.ts';
import type { Database } from '../../platform/database/database.ts';
import { moveIntoPlace } from '../../platform/storage/durable.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { saveRows } from './rows.ts';

export const ABOUT = 'modstead.json';
const DATABASE = 'modstead.sqlite';
/** The rows of a PostgreSQL database. */
export const ROWS = 'rows';

/** The first entry of a backup. */
export interface AboutBackup {
  readonly version: string;
  readonly date: string;
  readonly environments: readonly Environment[];
  /** False if files are in a bucket, which is not copied. */
  readonly files: boolean;
  readonly database: Database['dialect'];
}

export interface Saved {
  readonly files: number;
  readonly bytes: number;
}

/** Unfinished uploads, which jobs remove and no client can resume. */
const INCOMING = 'incoming/';
/**
 * The local certificate and the secret behind digests and tokens; without them clients could no longer trust or use the
 * service.
 */
const TLS_FOLDER = 'tls';
const SECRET = 'secret';

/**
 * Writes a backup completely or not at all. Databases come first: files are stored before the rows that name them, and
 * deleted files stay for an hour.
 */
export async function save(settings: Settings, environments: readonly Environment[], file: string): Promise<Saved> {
  const partial = `${file}.partial`;
  const handle = await open(partial, 'wx', 0o600);
  const saved = { files: 0, bytes: 0 };
  try {
    const now = new Date();
    const tar = new TarWriter(handle, Math.floor(now.getTime() / 1000));
    const description: AboutBackup = {
      version: about.version,
      date: now.toISOString(),
      environments,
      files: !settings.storage,
      database: settings.databaseUrl ? 'postgres' : 'sqlite',
    };
    const text = Buffer.from(JSON.stringify(description));
    await tar.add({ name: ABOUT, bytes: text.length }, [text]);
    await addKeys(tar, resolve(settings.data));
    for (const environment of environments) await addDatabase(tar, settings, environment, dirname(file));
    for (const environment of settings.storage ? [] : environments)
      await addFiles(tar, environment, await composeStorage(settings, environment), saved);
    await tar.end();
    await handle.sync();
    saved.bytes = (await handle.stat()).size;
    await handle.close();
  } catch (error) {
    await handle.close();
    await rm(partial, { force: true });
    throw error;
  }
  await moveIntoPlace(partial, file);
  return saved;
}

async function addKeys(tar: TarWriter, data: string): Promise<void> {
  const inFolder = existsSync(join(data, TLS_FOLDER)) ? await readdir(join(data, TLS_FOLDER)) : [];
  const names = [SECRET, ...inFolder.map((name) => `${TLS_FOLDER}/${name}`)];
  for (const name of names.filter((each) => existsSync(join(data, each)))) await addFile(tar, name, join(data, name));
}

async function addFile(tar: TarWriter, name: string, path: string): Promise<void> {
  const { size } = await stat(path);
  await tar.add({ name, bytes: size }, createReadStream(path));
}

/** Copies one consistent snapshot. */
async function addDatabase(
  tar: TarWriter,
  settings: Settings,
  environment: Environment,
  scratch: string,
): Promise<void> {
  const url = databaseUrl(settings, environment);
  const source = url ?? join(folderOf(settings, environment), DATABASE);
  if (!url && !existsSync(source)) return;
  const copy = join(scratch, `.${environment}-${process.pid}.database`);
  try {
    if (url) await saveRows(url, copy);
    else copySqlite(source, copy);
    await addFile(tar, `${environment}/${url ? ROWS : DATABASE}`, copy);
  } finally {
    await rm(copy, { force: true });
  }
}

/** SQLite copies within one transaction. */
function copySqlite(path: string, copy: string): void {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    db.prepare('vacuum into ?').run(copy);
  } finally {
    db.close();
  }
}

async function addFiles(
  tar: TarWriter,
  environment: Environment,
  storage: Storage,
  saved: { files: number },
): Promise<void> {
  for await (const key of storage.list('')) {
    const opened = key.startsWith(INCOMING) ? undefined : await storage.open(key);
    // Removed since it was listed, so no row references it.
    if (!opened) continue;
    await tar.add({ name: `${environment}/files/${key}`, bytes: opened.bytes }, opened.stream);
    saved.files += 1;
  }
}
