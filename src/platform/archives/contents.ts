import { crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { freeBuffer } from '../runtime/memory.ts';
import { type Entry, requireVersion } from './directory.ts';
import { ArchiveProblem } from './problem.ts';
import {
  FLAG,
  FLAGS_OF_EFFORT,
  IN_ZIP64_32,
  LOCAL_BYTES,
  METHOD,
  readExtras,
  readNumber64,
  SIGNATURE,
} from './records.ts';
import type { Window } from './source.ts';

const SMALL_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES = 128 * 1024;
/** The minimum `chunkSize` of zlib in Node.js. */
const CHUNK_BYTES_LEAST = 64;

/** Compares the entry's local header with the central directory and returns its length. */
export function requireLocalHeader(held: Buffer, entry: Entry): number {
  const { name } = entry;
  if (held.readUInt32LE(0) !== SIGNATURE.local) throw new ArchiveProblem('hidden_data');
  const [nameBytes, extraBytes] = [held.readUInt16LE(26), held.readUInt16LE(28)];
  const record = held.subarray(0, LOCAL_BYTES + nameBytes + extraBytes);
  if (record.length < LOCAL_BYTES + nameBytes + extraBytes) throw new ArchiveProblem('overlap', { entry: name });
  const rawName = record.subarray(LOCAL_BYTES, LOCAL_BYTES + nameBytes);
  const isSame =
    rawName.equals(Buffer.from(name)) &&
    ((record.readUInt16LE(6) ^ entry.flags) & ~FLAGS_OF_EFFORT) === 0 &&
    record.readUInt16LE(8) === entry.method;
  if (!isSame) throw new ArchiveProblem('mismatch', { entry: name });
  requireVersion(record.readUInt16LE(4), name);
  const { zip64, encrypted, link } = readExtras(record.subarray(LOCAL_BYTES + nameBytes), rawName, name);
  if (encrypted) throw new ArchiveProblem('encrypted', { entry: name });
  if (link) throw new ArchiveProblem('link', { entry: name });
  requireLocalSizes(record, entry, zip64);
  return record.length;
}

/** If a descriptor follows the data, the local header may leave the sizes and the checksum at zero. */
function requireLocalSizes(record: Buffer, entry: Entry, zip64: Buffer | undefined): void {
  const isOpen = (entry.flags & FLAG.descriptor) !== 0;
  const [short, shortCompressed] = [record.readUInt32LE(22), record.readUInt32LE(18)];
  const isLong = short === IN_ZIP64_32 || shortCompressed === IN_ZIP64_32;
  // A local zip64 field always contains both sizes, even if only one does not fit.
  if (zip64 ? zip64.length !== 16 : isLong) throw new ArchiveProblem('mismatch', { entry: entry.name });
  const bytes = [short, ...(zip64 ? [readNumber64(zip64, 0)] : [])];
  const compressed = [shortCompressed, ...(zip64 ? [readNumber64(zip64, 8)] : [])];
  const fits = (declared: number, known: number) => declared === known || (isOpen && declared === 0);
  const fitsAll = (declared: number[], known: number) =>
    declared.every((value) => (zip64 && value === IN_ZIP64_32) || fits(value, known));
  const isSame =
    fits(record.readUInt32LE(14), entry.crc32) &&
    fitsAll(bytes, entry.bytes) &&
    fitsAll(compressed, entry.compressedBytes);
  if (!isSame) throw new ArchiveProblem('mismatch', { entry: entry.name });
}

/**
 * The entry's content. Throws unless its length and checksum are as declared; a chunk is valid only until the next one
 * is requested, because its memory is reused.
 */
export async function* contentOf(window: Window, entry: Entry, start: number): AsyncGenerator<Buffer> {
  let [bytes, sum] = [0, 0];
  for await (const chunk of unpacked(window, entry, start)) {
    bytes += chunk.length;
    if (bytes > entry.bytes) throw new ArchiveProblem('content', { entry: entry.name });
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (bytes !== entry.bytes || sum !== entry.crc32) throw new ArchiveProblem('content', { entry: entry.name });
}

function unpacked(window: Window, entry: Entry, start: number): AsyncIterable<Buffer> {
  return entry.method === METHOD.stored ? packed(window, start, entry.compressedBytes) : inflated(window, entry, start);
}

async function* packed(window: Window, start: number, bytes: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; ) {
    const chunk = await window.some(start + done, bytes - done);
    done += chunk.length;
    yield chunk;
  }
}

interface Engine {
  readonly bytesWritten: number;
}

/** True if inflating synchronously is cheaper than handing the content to another thread. */
export const isSmall = ({ bytes, compressedBytes }: Entry): boolean =>
  bytes <= SMALL_BYTES_MAX && compressedBytes <= SMALL_BYTES_MAX;

/** The content of a small entry, checked against its declared length. */
export function smallContentOf(packed: Buffer, entry: Entry): Buffer {
  const content = entry.method === METHOD.stored ? packed : inflatedAtOnce(packed, entry);
  if (content.length !== entry.bytes || crc32(content) !== entry.crc32)
    throw new ArchiveProblem('content', { entry: entry.name });
  return content;
}

function inflatedAtOnce(packed: Buffer, entry: Entry): Buffer {
  const chunkSize = Math.max(CHUNK_BYTES_LEAST, entry.bytes);
  const inflate = () => inflateRawSync(packed, { maxOutputLength: entry.bytes + 1, chunkSize, info: true });
  // Node's types do not describe the result with `info`.
  const { buffer, engine } = asProblem(entry, inflate) as unknown as { buffer: Buffer; engine: Engine };
  requireAllRead(engine, entry);
  return buffer;
}

function asProblem<T>(entry: Entry, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new ArchiveProblem('content', { entry: entry.name, cause });
  }
}

/** Inflates in another thread, no further ahead than the reader has read. */
async function* inflated(window: Window, entry: Entry, start: number): AsyncGenerator<Buffer> {
  const engine = createInflateRaw({ chunkSize: CHUNK_BYTES });
  let failure: unknown;
  feed(engine, packed(window, start, entry.compressedBytes)).catch((error) => {
    failure = error;
    engine.destroy(error);
  });
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      yield chunk;
      freeBuffer(chunk);
    }
  } catch (cause) {
    throw failure ?? new ArchiveProblem('content', { entry: entry.name, cause });
  } finally {
    engine.destroy();
  }
  requireAllRead(engine, entry);
}

/** Waits after each chunk, because its memory is reused. The engine reports its errors to the reader of its output. */
async function feed(engine: InflateRaw, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) {
    const isRefused = await new Promise((resolve) => engine.write(piece, resolve));
    if (isRefused) return;
  }
  engine.end();
}

/** Data after the end of the compressed stream would be hidden from readers. */
function requireAllRead(engine: Engine, entry: Entry): void {
  if (engine.bytesWritten !== entry.compressedBytes) throw new ArchiveProblem('content', { entry: entry.name });
}

/** The data is followed by the next entry, or by a descriptor and the next entry. */
export function requireRoom({ name, flags }: Entry, left: number): void {
  if (left < 0) throw new ArchiveProblem('overlap', { entry: name });
  const lengths = flags & FLAG.descriptor ? DESCRIPTOR_BYTES : [0];
  if (!lengths.includes(left)) throw new ArchiveProblem('hidden_data');
}

/** With or without a signature, with sizes of 32 or 64 bits: the length distinguishes them. */
const DESCRIPTOR_BYTES = [12, 16, 20, 24];

export function requireDescriptor(record: Buffer, entry: Entry): void {
  if (record.length === 0) return;
  const hasSignature = record.length === 16 || record.length === 24;
  const isLong = record.length >= 20;
  const at = hasSignature ? 4 : 0;
  const size = (index: number) =>
    isLong ? readNumber64(record, at + 4 + index * 8) : record.readUInt32LE(at + 4 + index * 4);
  const isSame =
    (!hasSignature || record.readUInt32LE(0) === SIGNATURE.descriptor) &&
    record.readUInt32LE(at) === entry.crc32 &&
    size(0) === entry.compressedBytes &&
    size(1) === entry.bytes;
  if (!isSame) throw new ArchiveProblem('mismatch', { entry: entry.name });
}
