import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../../composition/migrations.ts';
import { type Check, Wrong } from './check.ts';

const NODE_MAJOR_LEAST = 26;
const FREE_BYTES_LEAST = 512 * 1024 ** 2;

export const nodeCheck: Check = {
  name: 'Node.js',
  todo: 'Run "npm ci", which installs the right one, and start with "npx modstead" or npm scripts.',
  run: async () => {
    const { node } = process.versions;
    if (Number(node.split('.')[0]) < NODE_MAJOR_LEAST) throw new Wrong(`${node} is older than ${NODE_MAJOR_LEAST}`);
    return node;
  },
};

/** The current time cannot be before the date of the newest migration. */
export const clockCheck: Check = {
  name: 'clock',
  todo: 'Set the clock of this machine, preferably by NTP: tokens, signatures and certificates depend on it.',
  run: async () => {
    const written = migrations
      .map(({ name }) => name.slice(0, 10))
      .sort()
      .at(-1)!;
    const now = new Date().toISOString();
    if (now.slice(0, 10) < written) throw new Wrong(`${now} is before the release of this version (${written})`);
    return now;
  },
};

export const folderChecks = (folder: string): Check[] => [
  {
    name: 'data folder',
    todo: `Give this user write access to ${folder}, or set MODSTEAD_DATA to another folder.`,
    run: async () => {
      const probe = join(folder, `.doctor-${process.pid}`);
      await mkdir(folder, { recursive: true });
      await writeFile(probe, 'writable', { flush: true });
      await rm(probe);
      return `${folder} is writable`;
    },
  },
  {
    name: 'disk space',
    todo: 'Free space on the disk, or set MODSTEAD_DATA to a folder on a larger one.',
    run: async () => {
      const { bavail, bsize } = await statfs(folder);
      const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free`;
      if (bavail * bsize < FREE_BYTES_LEAST) throw new Wrong(`only ${free}`);
      return free;
    },
  },
];
