import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import type { Storage } from '../storage/storage.ts';
import { ImageProblem } from './problem.ts';

// Reads a zip of pictures in place and never writes to a path from it. Refuses data that readers interpret differently,
// and entries larger than declared.

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const CENTRAL = 0x02014b50;
const CENTRAL_BYTES = 46;
const DIRECTORY_BYTES_MAX = 1024 * 1024;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

interface Source {
  readonly bytes: number;
  read(start: number, length: number): Promise<Buffer>;
}

interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly bytes: number;
  /** The offset of its local header. */
  readonly offset: number;
}

export interface ArchivedPicture {
  /** The unpacked size. */
  readonly bytes: number;
  unpack(): Promise<Buffer>;
}

export async function isArchive(storage: Storage, key: string): Promise<boolean> {
  const source = await sourceOf(storage, key);
  if (source.bytes < END_BYTES) return false;
  return [LOCAL, END].includes((await source.read(0, 4)).readUInt32LE(0));
}

/** The pictures in a zip, without folders and metadata files of operating systems. */
export async function picturesIn(storage: Storage, key: string): Promise<ArchivedPicture[]> {
  const source = await sourceOf(storage, key);
  const entries = await entriesOf(source);
  await requireApart(source, entries);
  return entries.map((entry) => ({ bytes: entry.bytes, unpack: () => unpack(source, entry) }));
}

async function sourceOf(storage: Storage, key: string): Promise<Source> {
  const bytes = (await storage.stat(key))?.bytes ?? 0;
  const read = async (start: number, length: number) => {
    if (start + length > bytes) throw new ImageProblem('corrupt');
    if (length === 0) return Buffer.alloc(0);
    const opened = await storage.open(key, { start, end: start + length - 1 });
    return buffer(opened!.stream);
  };
  return { bytes, read };
}

async function entriesOf(source: Source): Promise<Entry[]> {
  const tail = Math.min(source.bytes, END_BYTES + COMMENT_BYTES_MAX);
  const end = endIn(await source.read(source.bytes - tail, tail));
  const [disk, directoryDisk, here] = [end.readUInt16LE(4), end.readUInt16LE(6), end.readUInt16LE(8)];
  const [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  const isWhole = disk === 0 && directoryDisk === 0 && here === count;
  // The directory must end at the end record, with no data between them and none before the first file.
  if (!isWhole || length > DIRECTORY_BYTES_MAX || start + length !== source.bytes - end.length)
    throw new ImageProblem('corrupt');
  return readDirectory(await source.read(start, length), count);
}

function endIn(tail: Buffer): Buffer {
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1)
    if (tail.readUInt32LE(at) === END && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return tail.subarray(at);
  throw new ImageProblem('corrupt');
}

function readDirectory(directory: Buffer, count: number): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    if (at + CENTRAL_BYTES > directory.length || directory.readUInt32LE(at) !== CENTRAL)
      throw new ImageProblem('corrupt');
    const [name, extra, comment] = [28, 30, 32].map((each) => directory.readUInt16LE(at + each)) as [
      number,
      number,
      number,
    ];
    const nameAt = at + CENTRAL_BYTES;
    if (isPicture(directory.toString('utf8', nameAt, nameAt + name))) entries.push(entryAt(directory, at));
    at = nameAt + name + extra + comment;
  }
  if (at !== directory.length) throw new ImageProblem('corrupt');
  return entries;
}

function entryAt(directory: Buffer, at: number): Entry {
  const isEncrypted = (directory.readUInt16LE(at + 8) & ENCRYPTED) !== 0;
  const method = directory.readUInt16LE(at + 10);
  if (isEncrypted || (method !== STORED && method !== DEFLATED)) throw new ImageProblem('corrupt');
  return {
    method,
    crc: directory.readUInt32LE(at + 16),
    packed: directory.readUInt32LE(at + 20),
    bytes: directory.readUInt32LE(at + 24),
    offset: directory.readUInt32LE(at + 42),
  };
}

/** False for folders and for metadata files that operating systems add to archives. */
const isPicture = (name: string) => !/\/$|(^|\/)(\.|__MACOSX\/|Thumbs\.db$|desktop\.ini$)/.test(name);

/** Overlapping entries are how a small file expands to a huge one. */
async function requireApart(source: Source, entries: readonly Entry[]): Promise<void> {
  let last = 0;
  for (const { offset, packed } of [...entries].sort((a, b) => a.offset - b.offset)) {
    if (offset < last) throw new ImageProblem('corrupt');
    last = offset + LOCAL_BYTES + packed;
  }
  if (last > source.bytes) throw new ImageProblem('corrupt');
}

async function unpack(source: Source, { method, crc, packed, bytes, offset }: Entry): Promise<Buffer> {
  const head = await source.read(offset, LOCAL_BYTES);
  if (head.readUInt32LE(0) !== LOCAL || head.readUInt16LE(8) !== method) throw new ImageProblem('corrupt');
  const start = offset + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
  const data = await source.read(start, packed);
  const whole = method === STORED ? data : await inflated(data, bytes);
  if (whole.length !== bytes || crc32(whole) !== crc) throw new ImageProblem('corrupt');
  return whole;
}

async function inflated(data: Buffer, bytes: number): Promise<Buffer> {
  try {
    return await inflate(data, { maxOutputLength: Math.max(bytes, 1) });
  } catch (cause) {
    throw new ImageProblem('corrupt', { cause });
  }
}
