import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a generated archive. Omitted fields get correct values. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Uint8Array;
  readonly method?: number;
  readonly flags?: number;
  readonly attributes?: number;
  readonly madeBy?: number;
  /** The version needed to extract, such as 20 for 2.0. */
  readonly version?: number;
  readonly extra?: Uint8Array;
  readonly localExtra?: Uint8Array;
  readonly comment?: string;
  readonly crc32?: number;
  readonly bytes?: number;
  readonly compressedBytes?: number;
  /** Replaces the compressed data in the file. */
  readonly packed?: Uint8Array;
  readonly offset?: number;
  /** Fields of the local header that differ from the directory. */
  readonly local?: {
    name?: string;
    method?: number;
    flags?: number;
    bytes?: number;
    compressedBytes?: number;
    crc32?: number;
  };
  /** Bytes after the data, such as a descriptor. */
  readonly after?: Uint8Array;
}

export interface ZipOptions {
  readonly prefix?: Uint8Array;
  readonly suffix?: Uint8Array;
  readonly beforeDirectory?: Uint8Array;
  readonly comment?: string | Uint8Array;
  readonly entries?: number;
  readonly directoryOffset?: number;
  readonly directoryBytes?: number;
  readonly zip64?: boolean | { entries?: bigint; bytes?: bigint; offset?: bigint; recordAt?: bigint; size?: bigint };
}

export const STORED = 0;
export const DEFLATED = 8;
export const DESCRIPTOR = 0x8;
export const UTF8 = 0x800;

export const u16 = (...values: number[]): Buffer => fixed(2, values, (b, v, at) => b.writeUInt16LE(v, at));
export const u32 = (...values: number[]): Buffer => fixed(4, values, (b, v, at) => b.writeUInt32LE(v >>> 0, at));
export const u64 = (...values: (number | bigint)[]): Buffer =>
  fixed(8, values, (b, v, at) => b.writeBigUInt64LE(BigInt(v), at));

function fixed<T>(size: number, values: readonly T[], write: (buffer: Buffer, value: T, at: number) => void): Buffer {
  const buffer = Buffer.alloc(size * values.length);
  values.forEach((value, index) => void write(buffer, value, index * size));
  return buffer;
}

export const extraField = (id: number, data: Uint8Array): Buffer => Buffer.concat([u16(id, data.length), data]);

/** A zip archive of entries, or of files by name; valid by default. */
export function zipOf(
  files: readonly ZipEntry[] | Readonly<Record<string, string | Buffer>>,
  options: ZipOptions = {},
) {
  const entries: readonly ZipEntry[] = Array.isArray(files)
    ? files
    : Object.entries(files).map(([name, content]) => ({ name, content }));
  const parts: Buffer[] = options.prefix ? [Buffer.from(options.prefix)] : [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const entry of entries) {
    const known = knownOf(entry);
    const local = localOf(entry, known);
    parts.push(local);
    directory.push(centralOf(entry, known, entry.offset ?? position));
    position += local.length;
  }
  const before = Buffer.from(options.beforeDirectory ?? []);
  const central = Buffer.concat(directory);
  const end = endOf(entries.length, position + before.length, central.length, options);
  return Buffer.concat([...parts, before, central, end, Buffer.from(options.suffix ?? [])]);
}

type Known = ReturnType<typeof knownOf>;

function knownOf(entry: ZipEntry) {
  const content = Buffer.from(entry.content ?? '');
  const name = Buffer.from(entry.name as string);
  const method = entry.method ?? (content.length > 0 ? DEFLATED : STORED);
  const packed = Buffer.from(entry.packed ?? (method === DEFLATED ? deflateRawSync(content) : content));
  return {
    name,
    method,
    packed,
    flags: entry.flags ?? (name.some((byte) => byte > 127) ? UTF8 : 0),
    crc32: entry.crc32 ?? crc32(content),
    bytes: entry.bytes ?? content.length,
    compressedBytes: entry.compressedBytes ?? packed.length,
  };
}

function localOf({ local = {}, localExtra, extra, after, version = 20 }: ZipEntry, known: Known): Buffer {
  const { method, flags, bytes, compressedBytes, crc32: sum } = { ...known, ...local };
  const name = local.name === undefined ? known.name : Buffer.from(local.name);
  const field = Buffer.from(localExtra ?? extra ?? []);
  return Buffer.concat([
    u32(0x04034b50),
    u16(version, flags, method, 0, 0x21),
    u32(sum, compressedBytes, bytes),
    u16(name.length, field.length),
    name,
    field,
    known.packed,
    Buffer.from(after ?? []),
  ]);
}

function centralOf(entry: ZipEntry, known: Known, offset: number): Buffer {
  const { madeBy = 20, version = 20, extra = Buffer.alloc(0), comment = '', attributes = 0 } = entry;
  return Buffer.concat([
    u32(0x02014b50),
    u16(madeBy, version, known.flags, known.method, 0, 0x21),
    u32(known.crc32, known.compressedBytes, known.bytes),
    u16(known.name.length, extra.length, Buffer.byteLength(comment), 0, 0),
    u32(attributes, offset),
    known.name,
    extra,
    Buffer.from(comment),
  ]);
}

function endOf(count: number, offset: number, bytes: number, options: ZipOptions): Buffer {
  const comment = Buffer.from((options.comment ?? '') as string);
  const { entries = count, directoryOffset = offset, directoryBytes = bytes, zip64 } = options;
  const long = zip64 === true ? {} : zip64 || undefined;
  const record = long && [
    u32(0x06064b50),
    u64(long.size ?? 44),
    u16(45, 45),
    u32(0, 0),
    u64(long.entries ?? count, long.entries ?? count, long.bytes ?? bytes, long.offset ?? offset),
    u32(0x07064b50, 0),
    u64(long.recordAt ?? offset + bytes),
    u32(1),
  ];
  return Buffer.concat([
    ...(record ?? []),
    u32(0x06054b50),
    u16(0, 0, entries, entries),
    u32(directoryBytes, directoryOffset),
    u16(comment.length),
    comment,
  ]);
}

/** Wraps the content in this many nested archives. */
export function nested(name: string, content: Uint8Array | string, depth: number, method = DEFLATED): Buffer {
  let zip = zipOf([{ name, content, method }]);
  for (let level = depth; level > 0; level -= 1) zip = zipOf([{ name: `level-${level}.zip`, content: zip, method }]);
  return zip;
}

/** The harmless test file that every scanner reports; split, so that scanners do not report this source file. */
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join('');
