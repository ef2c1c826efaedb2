import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StorageFull } from './storage.ts';

/** Makes the names in a folder durable; without it a power failure may undo a rename, although the file was synced. */
export async function syncDirectory(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder, and journals names by itself.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// A caller that finds an existing folder must also wait until its name is durable.
const inTheMaking = new Map<string, Promise<void>>();

/** Creates a folder and its parents, each durable in its own parent. */
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

/** Fills and syncs a new file in this folder and returns its path. A failure leaves no file behind. */
export async function writeTemporary(
  folder: string,
  fill: (handle: FileHandle) => Promise<void>,
  mode = 0o666,
): Promise<string> {
  const path = join(folder, `.${randomUUID()}.tmp`);
  const handle = await open(path, 'wx', mode);
  try {
    await fill(handle);
    // A failed fsync is never repeated: the kernel may have dropped the pages and would then report success.
    await handle.sync();
    await handle.close();
    return path;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Renames a finished temporary file, replacing any existing file. */
export async function moveIntoPlace(temporary: string, path: string): Promise<void> {
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Writes a small file atomically. */
export async function writeDurably(path: string, content: string, mode?: number): Promise<void> {
  const temporary = await writeTemporary(dirname(path), (handle) => handle.writeFile(content), mode);
  await moveIntoPlace(temporary, path);
}
