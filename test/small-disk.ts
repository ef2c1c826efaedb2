import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryPlace } from './memory.ts';

/** A separate disk that is small enough to be filled by a test. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk except for this many bytes. */
  fill(bytesLeft?: number): void;
  free(): void;
  makeReadOnly(): void;
  unmount(): void;
}

const newFolder = () => mkdtempSync(join(temporaryPlace(), 'modstead-disk-'));

/** The reason why no disk can be mounted, or undefined. */
export function reasonWithoutDisk(): string | undefined {
  if (process.platform !== 'linux') return 'disks are mounted on Linux alone';
  if (process.getuid?.() !== 0) return 'only root may mount a disk';
  const folder = newFolder();
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  if (status === 0) execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : `no disk can be mounted: ${error?.message ?? String(stderr).split('\n')[0]}`;
}

/** Mounts the disk until it is released or this process ends. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const mount = newFolder();
  // PostgreSQL runs as another user and must be able to enter the folder.
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', mount]);
  const unmount = () => {
    process.off('exit', unmount);
    // A lazy unmount succeeds even if a process still has a file open.
    execFileSync('umount', ['--lazy', mount]);
    rmSync(mount, { recursive: true, force: true });
  };
  process.on('exit', unmount);
  const folder = join(mount, 'data');
  mkdirSync(folder);
  const filler = join(mount, 'filler');
  const spare = join(mount, 'spare');
  return {
    folder,
    fill: (bytesLeft = 0) => {
      if (bytesLeft > 0) write(spare, bytesLeft);
      write(filler, Number.POSITIVE_INFINITY);
      rmSync(spare, { force: true });
    },
    free: () => rmSync(filler, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', mount]),
    unmount,
  };
}

const PAGE = Buffer.alloc(4_096, 'x');

/** Appends to the file until it has this length or the disk is full. */
function write(path: string, bytes: number): void {
  const file = openSync(path, 'a');
  try {
    for (let left = bytes; left > 0; ) left -= writeSync(file, PAGE);
    fsyncSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
