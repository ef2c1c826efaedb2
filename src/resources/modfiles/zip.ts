import { buffer } from 'node:stream/consumers';
import { ApiError } from '../../errors/catalogue.ts';
import type { Storage } from '../../storage/storage.ts';

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const LOCATOR64_BYTES = 20;
const COMMENT_MAX = 0xffff;
const CENTRAL_BYTES = 46;
const NAME_AND_EXTRA_MAX = 3 * 0xffff;
const IN_ZIP64 = 0xffffffff;

interface Directory {
  readonly start: number;
  readonly bytes: number;
}

const corrupted = (cause?: unknown) => new ApiError('FILE_CORRUPTED', { status: 422, cause });

/** How many bytes the entries of an archive have when unpacked, as its directory says; or it is none. */
export async function uncompressedBytes(storage: Storage, key: string, bytes: number): Promise<number> {
  if (bytes < END_BYTES) throw corrupted();
  const magic = (await readAt(storage, key, 0, 4)).readUInt32LE(0);
  if (magic !== LOCAL_HEADER && magic !== END) throw corrupted();
  const directory = await directoryOf(storage, key, bytes);
  if (directory.start + directory.bytes > bytes) throw corrupted();
  try {
    return directory.bytes === 0 ? 0 : await sumOf(storage, key, directory);
  } catch (cause) {
    // A record that ends too early is read past its end.
    throw cause instanceof RangeError ? corrupted(cause) : cause;
  }
}

async function readAt(storage: Storage, key: string, start: number, bytes: number): Promise<Buffer> {
  const found = await storage.open(key, { start, end: start + bytes - 1 });
  if (!found) throw new Error(`${key} is not in storage`);
  return buffer(found.stream);
}

async function directoryOf(storage: Storage, key: string, bytes: number): Promise<Directory> {
  const length = Math.min(bytes, END_BYTES + COMMENT_MAX + LOCATOR64_BYTES);
  const tail = await readAt(storage, key, bytes - length, length);
  const end = endIn(tail);
  if (end === undefined) throw corrupted();
  const directory = { bytes: tail.readUInt32LE(end + 12), start: tail.readUInt32LE(end + 16) };
  const locator = end - LOCATOR64_BYTES;
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR64) return directory;
  const at = Number(tail.readBigUInt64LE(locator + 8));
  if (at + 56 > bytes) throw corrupted();
  const end64 = await readAt(storage, key, at, 56);
  if (end64.readUInt32LE(0) !== END64) throw corrupted();
  return { bytes: Number(end64.readBigUInt64LE(40)), start: Number(end64.readBigUInt64LE(48)) };
}

/** Where the last record begins: the one whose comment reaches exactly to the end. */
function endIn(tail: Buffer): number | undefined {
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1)
    if (tail.readUInt32LE(at) === END && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length) return at;
  return undefined;
}

/** The directory may be long, so it is read as it comes. */
async function sumOf(storage: Storage, key: string, { start, bytes }: Directory): Promise<number> {
  const { stream } = (await storage.open(key, { start, end: start + bytes - 1 }))!;
  let rest: Buffer = Buffer.alloc(0);
  let sum = 0;
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let entry = entryAt(rest, at); entry; entry = entryAt(rest, at)) {
      sum += entry.uncompressed;
      at += entry.bytes;
    }
    rest = rest.subarray(at);
    if (rest.length > CENTRAL_BYTES + NAME_AND_EXTRA_MAX) throw corrupted();
  }
  if (rest.length > 0 || !Number.isSafeInteger(sum)) throw corrupted();
  return sum;
}

/** The entry that begins here, once it is there as a whole. */
function entryAt(from: Buffer, at: number): { bytes: number; uncompressed: number } | undefined {
  if (from.length - at < CENTRAL_BYTES) return undefined;
  if (from.readUInt32LE(at) !== CENTRAL_HEADER) throw corrupted();
  const name = from.readUInt16LE(at + 28);
  const extra = from.readUInt16LE(at + 30);
  const bytes = CENTRAL_BYTES + name + extra + from.readUInt16LE(at + 32);
  if (from.length - at < bytes) return undefined;
  const uncompressed = from.readUInt32LE(at + 24);
  if (uncompressed !== IN_ZIP64) return { bytes, uncompressed };
  const begin = at + CENTRAL_BYTES + name;
  return { bytes, uncompressed: sizeIn(from.subarray(begin, begin + extra)) };
}

/** The extra field of zip64 begins with the size when the record itself has no room for it. */
function sizeIn(extra: Buffer): number {
  const ZIP64 = 1;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === ZIP64) return Number(extra.readBigUInt64LE(at + 4));
  throw corrupted();
}
