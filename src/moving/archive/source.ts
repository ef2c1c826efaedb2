import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Entry, entryOf } from '../../platform/archives/tar.ts';
import { isKey } from '../../platform/storage/storage.ts';
import { ArchiveProblem } from './lines.ts';
import { FILES_FOLDER, kindOf, MANIFEST, SIGNATURE } from './manifest.ts';

/** An archive that can be read at any place. */
export interface Source {
  /** Names of rows, in no particular order. */
  readonly parts: readonly string[];
  bytesOf(name: string): Promise<number | undefined>;
  open(name: string): Promise<Readable>;
  close(): Promise<void>;
}

/** Every name becomes a path or a key, so a name that could leave the archive ends the reading. */
export function requireName(name: string): string {
  const isKnown = name === MANIFEST || name === SIGNATURE || kindOf(name) !== undefined;
  const isFile = name.startsWith(FILES_FOLDER) && isKey(name);
  if (!isKnown && !isFile) throw new ArchiveProblem(`it contains the name ${JSON.stringify(name.slice(0, 200))}`);
  return name;
}

export async function openSource(path: string): Promise<Source> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) throw new ArchiveProblem('it does not exist');
  return found.isDirectory() ? folderSource(path) : tarSource(path);
}

async function folderSource(folder: string): Promise<Source> {
  const parts: string[] = [];
  const rows = await opendir(join(folder, 'rows')).catch(() => undefined);
  if (rows) for await (const { name } of rows) if (kindOf(`rows/${name}`)) parts.push(`rows/${name}`);
  // A link could point at any file of the machine.
  const fileOf = async (name: string) => {
    const path = join(folder, requireName(name));
    const found = await lstat(path).catch(() => undefined);
    return found?.isFile() ? { path, bytes: found.size } : undefined;
  };
  return {
    parts,
    bytesOf: async (name) => (await fileOf(name))?.bytes,
    open: async (name) => {
      const file = await fileOf(name);
      if (!file) throw new ArchiveProblem(`it lacks ${name}`);
      return createReadStream(file.path, { highWaterMark: 256 * 1024 });
    },
    close: async () => {},
  };
}

interface Place {
  readonly start: number;
  readonly bytes: number;
}

const BLOCK = 512;

/** Remembers where each entry begins; the names of a million files take some 200 MB. */
async function tarSource(path: string): Promise<Source> {
  const handle = await open(path, 'r');
  try {
    const places = await placesIn(handle);
    return {
      parts: [...places.keys()].filter((name) => kindOf(name) !== undefined),
      bytesOf: async (name) => places.get(name)?.bytes,
      open: async (name) => {
        const place = places.get(name);
        if (!place) throw new ArchiveProblem(`it lacks ${name}`);
        const end = place.start + place.bytes - 1;
        if (place.bytes === 0) return createReadStream('/dev/null');
        return createReadStream(path, { start: place.start, end, highWaterMark: 256 * 1024 });
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The digest at the end of a tar file, which `readTar` checks. */
const DIGEST = 'sha256';

async function placesIn(handle: FileHandle): Promise<Map<string, Place>> {
  const { size } = await handle.stat();
  const places = new Map<string, Place>();
  const header = Buffer.alloc(BLOCK);
  for (let start = 0; start + BLOCK <= size; ) {
    await handle.read(header, 0, BLOCK, start);
    if (header.every((byte) => byte === 0)) return places;
    const { name, bytes } = headerIn(header);
    start += BLOCK;
    if (start + bytes > size) break;
    if (name !== DIGEST) {
      if (places.has(name)) throw new ArchiveProblem(`it contains ${JSON.stringify(name)} twice`);
      places.set(requireName(name), { start, bytes });
    }
    start += Math.ceil(bytes / BLOCK) * BLOCK;
  }
  throw new ArchiveProblem('it is truncated');
}

const FILE_TYPES = ['0', '\0'];

function headerIn(header: Buffer): Entry {
  const entry = entryOf(header);
  if (!FILE_TYPES.includes(String.fromCharCode(header[156]!))) throw new ArchiveProblem(`${entry.name} is not a file`);
  if (!Number.isSafeInteger(entry.bytes) || entry.bytes < 0) throw new ArchiveProblem('it is damaged');
  return entry;
}
