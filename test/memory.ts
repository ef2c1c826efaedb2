import fs from 'node:fs';
import os from 'node:os';

const MEMORY = '/dev/shm';
const BYTES_MIN = 4 * 1024 ** 3;

/**
 * The folder for test data: in memory if there is room. On a disk, commits of SQLite and creating databases on PostgreSQL
 * take up to half of a test file's time.
 */
export const temporaryPlace = (): string => (hasRoom() ? MEMORY : os.tmpdir());

function hasRoom(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < 2 * BYTES_MIN) return false;
  try {
    const { bavail, bsize } = fs.statfsSync(MEMORY);
    fs.accessSync(MEMORY, fs.constants.W_OK);
    return bavail * bsize >= BYTES_MIN;
  } catch {
    return false;
  }
}
