import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { misuse } from '../invocation/command.ts';
import { ignoredBy } from './ignored.ts';

export const IGNORE_FILE = '.modsteadignore';

export interface FolderFile {
  /** With slashes, as in the archive. */
  readonly name: string;
  readonly path: string;
}

/** The files of a folder that belong to the mod, in the order of the archive. */
export async function filesOf(folder: string): Promise<FolderFile[]> {
  const isIgnored = ignoredBy(await readFile(join(folder, IGNORE_FILE), 'utf8').catch(() => ''));
  const files: FolderFile[] = [];
  const visit = async (inside: string): Promise<void> => {
    for (const entry of await readdir(join(folder, inside), { withFileTypes: true })) {
      const path = inside + entry.name;
      if (isIgnored(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) await visit(`${path}/`);
      // File systems disagree on how they compose letters with accents.
      else if (entry.isFile()) files.push({ name: path.normalize('NFC'), path: join(folder, path) });
      else throw misuse({ name: 'folder_other', values: { path, ignore: IGNORE_FILE } });
    }
  };
  await visit('');
  if (files.length === 0) throw misuse({ name: 'folder_empty', values: { path: folder } });
  return files.sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
}

const STORED = 0;
const DEFLATED = 8;
const UTF8 = 0x800;
const VERSION = 20;
/** 1 January 1980, the first day that the format knows. */
const TIME = 0;
const DATE = 0x21;
const LOCAL_BYTES = 30;
const LONGEST_ARCHIVE_BYTES = 0xffff_ffff;
const MOST_FILES = 0xffff;

/**
 * Writes a zip archive whose bytes depend on the names and contents alone: no times, owners or modes. The compressor is
 * that of Node.js, so another version of it may write other bytes.
 */
export async function pack(files: readonly FolderFile[], target: string, signal?: AbortSignal): Promise<void> {
  if (files.length >= MOST_FILES) throw tooLarge();
  const handle = await open(target, 'w', 0o600);
  try {
    const directory: Buffer[] = [];
    let position = 0;
    for (const file of files) {
      const name = Buffer.from(file.name);
      const at = position + LOCAL_BYTES + name.length;
      let packed = await writeData(handle, at, file.path, DEFLATED, signal);
      if (packed.packedBytes >= packed.bytes) packed = await writeData(handle, at, file.path, STORED, signal);
      if (at + packed.packedBytes >= LONGEST_ARCHIVE_BYTES) throw tooLarge();
      await writeAll(handle, localHeader(name, packed), position);
      directory.push(centralHeader(name, packed, position));
      position = at + packed.packedBytes;
    }
    const central = Buffer.concat(directory);
    const end = Buffer.concat([central, endRecord(files.length, central.length, position)]);
    await writeAll(handle, end, position);
    // A stored file may be shorter than its compressed form was.
    await handle.truncate(position + end.length);
  } finally {
    await handle.close();
  }
}

const tooLarge = () =>
  misuse({ name: 'folder_too_large', values: { size: { bytes: LONGEST_ARCHIVE_BYTES }, count: MOST_FILES - 1 } });

interface Packed {
  readonly method: number;
  readonly crc: number;
  readonly bytes: number;
  readonly packedBytes: number;
}

async function writeData(
  handle: FileHandle,
  at: number,
  path: string,
  method: number,
  signal: AbortSignal | undefined,
): Promise<Packed> {
  let [crc, bytes, packedBytes] = [0, 0, 0];
  const measure = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const write = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      await writeAll(handle, chunk, at + packedBytes);
      packedBytes += chunk.length;
    }
  };
  const options = signal ? { signal } : {};
  if (method === DEFLATED) await pipeline(createReadStream(path), measure, createDeflateRaw(), write, options);
  else await pipeline(createReadStream(path), measure, write, options);
  return { method, crc, bytes, packedBytes };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** The fields that a local header and the directory share. */
function shared(name: Buffer, { method, crc, bytes, packedBytes }: Packed): Buffer {
  const flags = name.some((byte) => byte > 0x7f) ? UTF8 : 0;
  return Buffer.concat([u16(VERSION, flags, method, TIME, DATE), u32(crc, packedBytes, bytes), u16(name.length, 0)]);
}

const localHeader = (name: Buffer, packed: Packed): Buffer =>
  Buffer.concat([u32(0x04034b50), shared(name, packed), name]);

const centralHeader = (name: Buffer, packed: Packed, offset: number): Buffer =>
  Buffer.concat([u32(0x02014b50), u16(VERSION), shared(name, packed), u16(0, 0, 0), u32(0, offset), name]);

const endRecord = (count: number, bytes: number, offset: number): Buffer =>
  Buffer.concat([u32(0x06054b50), u16(0, 0, count, count), u32(bytes, offset), u16(0)]);

function u16(...values: number[]): Buffer {
  const buffer = Buffer.alloc(2 * values.length);
  values.forEach((value, index) => void buffer.writeUInt16LE(value, 2 * index));
  return buffer;
}

function u32(...values: number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => void buffer.writeUInt32LE(value >>> 0, 4 * index));
  return buffer;
}
