import { extensionOf, Names, requireSafeName } from './names.ts';
import type { ArchivePolicy } from './policy.ts';
import { ArchiveProblem } from './problem.ts';
import {
  CENTRAL_BYTES,
  END_BYTES,
  END64_BYTES,
  type Extras,
  FLAG,
  IN_ZIP64_16,
  IN_ZIP64_32,
  LOCAL_BYTES,
  LOCATOR_BYTES,
  METHOD,
  readExtras,
  readNumber64,
  SIGNATURE,
  VERSION_MAX,
} from './records.ts';
import { type ArchiveSource, Window } from './source.ts';
import type { TimeSlice } from './time-slice.ts';

/** An entry of the central directory. */
export interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly offset: number;
}

/** The position of the central directory. */
export interface End {
  readonly entries: number;
  readonly offset: number;
  readonly bytes: number;
}

const COMMENT_BYTES_MAX = 0xffff;
/** The maximum compression ratio of deflate; a higher declared ratio is wrong. */
const DEFLATE_RATIO_MAX = 1_032;

/** Finds the end record; without one the bytes are no zip archive. No foreign data may precede the archive. */
export async function findEnd(source: ArchiveSource, policy: ArchivePolicy): Promise<End | undefined> {
  const window = new Window(source);
  const tailBytes = Math.min(source.bytes, END_BYTES + COMMENT_BYTES_MAX);
  if (tailBytes < END_BYTES) return undefined;
  const tailAt = source.bytes - tailBytes;
  const tail = await window.read(tailAt, tailBytes);
  const found = tail.lastIndexOf('PK\x05\x06', tailBytes - END_BYTES, 'latin1');
  if (found === -1) return undefined;
  const commentBytes = tail.readUInt16LE(found + 20);
  if (found + END_BYTES + commentBytes !== tailBytes) throw new ArchiveProblem('hidden_data');
  if (commentBytes > policy.commentBytesMax) throw new ArchiveProblem('comment', { max: policy.commentBytesMax });
  return readEnd(window, tailAt + found);
}

async function readEnd(window: Window, position: number): Promise<End> {
  const record = await window.read(position, END_BYTES);
  const [disk, directoryDisk] = [record.readUInt16LE(4), record.readUInt16LE(6)];
  const [entriesHere, entries] = [record.readUInt16LE(8), record.readUInt16LE(10)];
  const short: End = { entries, bytes: record.readUInt32LE(12), offset: record.readUInt32LE(16) };
  const long = await readEnd64(window, position);
  if (long) requireAgreement(short, long);
  const end = long ?? short;
  const disks = long ? [0, IN_ZIP64_16] : [0];
  if (entriesHere !== entries || !disks.includes(disk) || !disks.includes(directoryDisk))
    throw new ArchiveProblem('damaged');
  const directoryEnd = long ? position - LOCATOR_BYTES - END64_BYTES : position;
  if (end.offset + end.bytes < directoryEnd) throw new ArchiveProblem('hidden_data');
  if (end.offset + end.bytes > directoryEnd || end.entries * CENTRAL_BYTES > end.bytes)
    throw new ArchiveProblem('damaged');
  return end;
}

/** The zip64 end record, its locator and the end record must follow each other without a gap. */
async function readEnd64(window: Window, endAt: number): Promise<End | undefined> {
  const locatorAt = endAt - LOCATOR_BYTES;
  if (locatorAt < END64_BYTES) return undefined;
  const locator = await window.read(locatorAt, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== SIGNATURE.locator) return undefined;
  const at = locatorAt - END64_BYTES;
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) !== 1 || readNumber64(locator, 8) !== at)
    throw new ArchiveProblem('hidden_data');
  const record = await window.read(at, END64_BYTES);
  const isWhole =
    record.readUInt32LE(0) === SIGNATURE.end64 &&
    readNumber64(record, 4) === END64_BYTES - 12 &&
    record.readUInt32LE(16) === 0 &&
    record.readUInt32LE(20) === 0 &&
    readNumber64(record, 24) === readNumber64(record, 32);
  if (!isWhole) throw new ArchiveProblem('damaged');
  return { entries: readNumber64(record, 32), bytes: readNumber64(record, 40), offset: readNumber64(record, 48) };
}

/** A reader without zip64 support must not find another directory than one with it. */
function requireAgreement(short: End, long: End): void {
  const agree =
    [IN_ZIP64_16, long.entries].includes(short.entries) &&
    [IN_ZIP64_32, long.bytes].includes(short.bytes) &&
    [IN_ZIP64_32, long.offset].includes(short.offset);
  if (!agree) throw new ArchiveProblem('damaged');
}

/** The counts of an inspection so far, over all depths. */
export interface Tally {
  addPlace(): void;
  addBytes(bytes: number): void;
}

/** Reads the central directory and refuses every entry that some reader would unpack differently or unsafely. */
export async function readDirectory(
  source: ArchiveSource,
  end: End,
  policy: ArchivePolicy,
  { tally, slice, isOutermost }: { tally: Tally; slice: TimeSlice; isOutermost: boolean },
): Promise<Entry[]> {
  if (end.entries > policy.entriesMax || end.bytes > policy.directoryBytesMax)
    throw new ArchiveProblem('entries', { max: policy.entriesMax });
  const window = new Window(source);
  const names = new Names(isOutermost, () => tally.addPlace());
  const entries: Entry[] = [];
  let position = end.offset;
  for (let index = 0; index < end.entries; index += 1) {
    if (slice.isUsedUp) await slice.yieldToEventLoop();
    const head = window.held(position, CENTRAL_BYTES) ?? (await window.read(position, CENTRAL_BYTES));
    const bytes = centralBytesOf(head);
    const record = window.held(position, bytes) ?? (await window.read(position, bytes));
    const entry = readCentral(record, policy);
    names.add(entry.name);
    tally.addBytes(entry.bytes);
    entries.push(entry);
    position += bytes;
  }
  if (position !== end.offset + end.bytes) throw new ArchiveProblem('damaged');
  requireLayout(entries, end);
  return entries;
}

function centralBytesOf(head: Buffer): number {
  if (head.readUInt32LE(0) !== SIGNATURE.central) throw new ArchiveProblem('damaged');
  return CENTRAL_BYTES + head.readUInt16LE(28) + head.readUInt16LE(30) + head.readUInt16LE(32);
}

function readCentral(record: Buffer, policy: ArchivePolicy): Entry {
  const [nameBytes, extraBytes, commentBytes] = [
    record.readUInt16LE(28),
    record.readUInt16LE(30),
    record.readUInt16LE(32),
  ];
  const rawName = record.subarray(CENTRAL_BYTES, CENTRAL_BYTES + nameBytes);
  const name = decodeName(rawName);
  requireSafeName(name, policy.nameBytesMax);
  if (commentBytes > policy.commentBytesMax) throw new ArchiveProblem('comment', { max: policy.commentBytesMax });
  if (policy.extensionsRefused.has(extensionOf(name))) throw new ArchiveProblem('extension', { entry: name });
  const extra = record.subarray(CENTRAL_BYTES + nameBytes, CENTRAL_BYTES + nameBytes + extraBytes);
  requireVersion(record.readUInt16LE(6), name);
  return toEntry(record, name, readExtras(extra, rawName, name));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Many names without the UTF-8 flag are UTF-8 nevertheless; readers decode all others differently. */
function decodeName(raw: Buffer): string {
  try {
    return utf8.decode(raw);
  } catch (cause) {
    throw new ArchiveProblem('name_encoding', { entry: raw.toString('latin1'), cause });
  }
}

function toEntry(record: Buffer, name: string, extras: Extras): Entry {
  const entry: Entry = {
    name,
    isFolder: name.endsWith('/'),
    flags: record.readUInt16LE(8),
    method: record.readUInt16LE(10),
    crc32: record.readUInt32LE(16),
    ...placeOf(record, name, extras.zip64),
  };
  requireReadable(entry, extras);
  requireOrdinary(entry, record.readUInt32LE(38), extras);
  requirePlausible(entry);
  return entry;
}

/** Sizes and offset. Values that do not fit are in the zip64 field, in this order and without any others. */
function placeOf(record: Buffer, name: string, zip64: Buffer = Buffer.alloc(0)) {
  let at = 0;
  const next = (length: number) => {
    if (at + length > zip64.length) throw new ArchiveProblem('mismatch', { entry: name });
    at += length;
    return length === 8 ? readNumber64(zip64, at - 8) : zip64.readUInt32LE(at - 4);
  };
  const value = (short: number) => (short === IN_ZIP64_32 ? next(8) : short);
  const bytes = value(record.readUInt32LE(24));
  const compressedBytes = value(record.readUInt32LE(20));
  const offset = value(record.readUInt32LE(42));
  const disk = record.readUInt16LE(34);
  const realDisk = disk === IN_ZIP64_16 ? next(4) : disk;
  if (realDisk !== 0) throw new ArchiveProblem('damaged');
  if (at !== zip64.length) throw new ArchiveProblem('mismatch', { entry: name });
  return { bytes, compressedBytes, offset };
}

export function requireVersion(version: number, name: string): void {
  if ((version & 0xff) > VERSION_MAX) throw new ArchiveProblem('method', { entry: name });
}

function requireReadable({ name, flags, method }: Entry, extras: Extras): void {
  if (flags & FLAG.encrypted || method === METHOD.aes || extras.encrypted)
    throw new ArchiveProblem('encrypted', { entry: name });
  if (flags & FLAG.patched || (method !== METHOD.stored && method !== METHOD.deflated))
    throw new ArchiveProblem('method', { entry: name });
}

const UNIX_TYPE = { mask: 0o170000, folder: 0o040000, file: 0o100000 } as const;
const DOS = { label: 0x08, folder: 0x10, device: 0x40, reparsePoint: 0x400 } as const;

/** Requires a regular file or a folder, and that all attributes agree on which of the two it is. */
function requireOrdinary({ name, isFolder }: Entry, attributes: number, extras: Extras): void {
  const unixType = (attributes >>> 16) & UNIX_TYPE.mask;
  const isOther = unixType !== 0 && unixType !== UNIX_TYPE.folder && unixType !== UNIX_TYPE.file;
  if (isOther || extras.link || attributes & (DOS.label | DOS.device | DOS.reparsePoint))
    throw new ArchiveProblem('link', { entry: name });
  const saysFolder = unixType === UNIX_TYPE.folder || (attributes & DOS.folder) !== 0;
  if (isFolder ? unixType === UNIX_TYPE.file : saysFolder) throw new ArchiveProblem('mismatch', { entry: name });
}

function requirePlausible({ name, isFolder, method, bytes, compressedBytes }: Entry): void {
  if (isFolder && bytes > 0) throw new ArchiveProblem('mismatch', { entry: name });
  if (method === METHOD.stored && bytes !== compressedBytes) throw new ArchiveProblem('mismatch', { entry: name });
  if (bytes > compressedBytes * DEFLATE_RATIO_MAX) throw new ArchiveProblem('content', { entry: name });
}

/** Entries must follow each other from the first byte on, so that no byte is unpacked twice. */
function requireLayout(entries: readonly Entry[], end: End): void {
  let position = 0;
  for (const entry of inOrder(entries)) {
    if (entry.offset < position) throw new ArchiveProblem('overlap', { entry: entry.name });
    if (position === 0 && entry.offset > 0) throw new ArchiveProblem('hidden_data');
    position = entry.offset + LOCAL_BYTES + Buffer.byteLength(entry.name) + entry.compressedBytes;
  }
  if (position > end.offset) throw new ArchiveProblem('damaged');
  if (entries.length === 0 && (end.offset > 0 || end.bytes > 0)) throw new ArchiveProblem('hidden_data');
}

/** In the order of their data in the file. */
export const inOrder = (entries: readonly Entry[]): Entry[] => entries.toSorted((a, b) => a.offset - b.offset);
