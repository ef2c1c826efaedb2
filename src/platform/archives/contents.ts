import { crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { freeBuffer } from '../runtime/memory.ts';
import { type Entry, requireVersion } from './directory.ts';
import { ArchiveProblem } from './problem.ts';
import {
  ELSEWHERE_32,
  FLAG,
  FLAGS_OF_EFFORT,
  LOCAL_BYTES,
  METHOD,
  readExtras,
  readNumber64,
  SIGNATURE,
} from './records.ts';
import type { Window } from './source.ts';

const SMALL_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES = 128 * 1024;
/** As Node has it. */
const CHUNK_BYTES_LEAST = 64;

/** Holds the entry's local header against the central directory, and answers how long it is. */
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

/** Where a descriptor follows the data, the header may leave open what it could not know yet. */
function requireLocalSizes(record: Buffer, entry: Entry, zip64: Buffer | undefined): void {
  const isOpen = (entry.flags & FLAG.descriptor) !== 0;
  const [short, shortCompressed] = [record.readUInt32LE(22), record.readUInt32LE(18)];
  const isLong = short === ELSEWHERE_32 || shortCompressed === ELSEWHERE_32;
  // Both sizes are in the local field whenever it is there, even if only one does not fit.
  if (zip64 ? zip64.length !== 16 : isLong) throw new ArchiveProblem('mismatch', { entry: entry.name });
  const bytes = [short, ...(zip64 ? [readNumber64(zip64, 0)] : [])];
  const compressed = [shortCompressed, ...(zip64 ? [readNumber64(zip64, 8)] : [])];
  const fits = (told: number, known: number) => told === known || (isOpen && told === 0);
  const fitsAll = (told: number[], known: number) =>
    told.every((value) => (zip64 && value === ELSEWHERE_32) || fits(value, known));
  const isSame =
    fits(record.readUInt32LE(14), entry.crc32) &&
    fitsAll(bytes, entry.bytes) &&
    fitsAll(compressed, entry.compressedBytes);
  if (!isSame) throw new ArchiveProblem('mismatch', { entry: entry.name });
}

/**
 * The entry's content: as long as declared, with the declared checksum, or else it ends with a problem. A chunk is the
 * reader's until it asks for the next: its memory is used again.
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

/** Whether it is cheaper to have the content at once than to let another thread make it. */
export const isSmall = ({ bytes, compressedBytes }: Entry): boolean =>
  bytes <= SMALL_BYTES_MAX && compressedBytes <= SMALL_BYTES_MAX;

/** The content of a small entry, which is as declared. */
export function smallContentOf(packed: Buffer, entry: Entry): Buffer {
  const content = entry.method === METHOD.stored ? packed : inflatedAtOnce(packed, entry);
  if (content.length !== entry.bytes || crc32(content) !== entry.crc32)
    throw new ArchiveProblem('content', { entry: entry.name });
  return content;
}

function inflatedAtOnce(packed: Buffer, entry: Entry): Buffer {
  const chunkSize = Math.max(CHUNK_BYTES_LEAST, entry.bytes);
  const inflate = () => inflateRawSync(packed, { maxOutputLength: entry.bytes + 1, chunkSize, info: true });
  // Node's types do not know what `info` changes.
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

/** In another thread, and no further ahead than the reader follows. */
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

/** Piece by piece, as the memory of a piece is used again. What the engine refuses, it tells whoever reads from it. */
async function feed(engine: InflateRaw, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) {
    const isRefused = await new Promise((resolve) => engine.write(piece, resolve));
    if (isRefused) return;
  }
  engine.end();
}

/** What follows the end of the compressed data would be hidden there. */
function requireAllRead(engine: Engine, entry: Entry): void {
  if (engine.bytesWritten !== entry.compressedBytes) throw new ArchiveProblem('content', { entry: entry.name });
}

/** Behind the data is the next entry, or a descriptor and then the next entry. */
export function requireRoom({ name, flags }: Entry, left: number): void {
  if (left < 0) throw new ArchiveProblem('overlap', { entry: name });
  const lengths = flags & FLAG.descriptor ? DESCRIPTOR_BYTES : [0];
  if (!lengths.includes(left)) throw new ArchiveProblem('hidden_data');
}

/** With or without a signature, with sizes of 32 or 64 bits: the length tells which. */
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
