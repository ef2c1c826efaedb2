import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StorageFull } from './storage.ts';

/** Makes the names in a folder survive a power cut; without it a renamed file may be gone although it was synced. */
export async function syncDirectory(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder, and journals names by itself.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// Whoever finds a folder already there has to wait until its name is durable too.
const inTheMaking = new Map<string, Promise<void>>();

/** Makes a folder and those above it, each durable in its parent. */
export function ensureDirectory(folder: string, mode = 0o777): Promise<void> {
  const path = resolve(folder);
  const making = inTheMaking.get(path) ?? makeDirectory(path, mode).finally(() => inTheMaking.delete(path));
  inTheMaking.set(path, making);
  return making;
}

async function makeDirectory(path: string, mode: number): Promise<void> {
  if (await isDirectory(path)) return;
  const parent = dirname(path);
  await ensureDirectory(parent, mode);
  await mkdir(path, { mode }).catch(unlessCode('EEXIST'));
  await syncDirectory(parent);
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(unlessCode('ENOENT'));
  return found?.isDirectory() ?? false;
}

export function unlessCode(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? '')) throw error;
  };
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

export function toStorageError(error: unknown): unknown {
  const full = ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
  return full ? new StorageFull('no space left for files', { cause: error }) : error;
}

/** Fills a new, synced file in this folder and returns its path; nothing stays behind when that fails. */
export async function writeTemporary(
  folder: string,
  fill: (handle: FileHandle) => Promise<void>,
  mode = 0o666,
): Promise<string> {
  const path = join(folder, `.${randomUUID()}.tmp`);
  const handle = await open(path, 'wx', mode);
  try {
    await fill(handle);
    // A failed sync is never tried again: the kernel may have dropped the pages and would then report success.
    await handle.sync();
    await handle.close();
    return path;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Moves a finished temporary file to its place, replacing what was there. */
export async function moveIntoPlace(temporary: string, path: string): Promise<void> {
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Writes a small file as a whole or not at all. */
export async function writeDurably(path: string, content: string, mode?: number): Promise<void> {
  const temporary = await writeTemporary(dirname(path), (handle) => handle.writeFile(content), mode);
  await moveIntoPlace(temporary, path);
}
