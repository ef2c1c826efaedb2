import { open } from 'node:fs/promises';

/** Makes new names in a folder survive a power failure. Windows offers no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
