import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { extraField, u16, u32, u64 } from '../test/zips.ts';

const MEBIBYTE = 1024 ** 2;
const NAME = Buffer.from('world.dat');
/** The 64-bit form of zip (APPNOTE 4.3.14, 4.5.3), which sizes beyond 4 GiB need. */
const ZIP64_VERSION = 45;
const IN_ZIP64 = 0xffffffff;

/** A zip archive of a given length with one stored file. Any range of it can be generated without the rest in memory. */
export interface Archive {
  readonly bytes: number;
  stretch(start: number, end: number): Generator<Buffer>;
  sha256(): string;
}

export function archiveOf(bytes: number): Archive {
  const piece = randomBytes(MEBIBYTE);
  const headBytes = headOf(0, 0).length;
  const content = bytes - headBytes - tailOf(0, 0, 0).length;
  const sum = sumOf(piece, content);
  const head = headOf(sum, content);
  const tail = tailOf(sum, content, headBytes + content);

  function* stretch(start: number, end: number): Generator<Buffer> {
    for (let at = start; at < end; ) {
      const part = pieceAt(at).subarray(0, end - at);
      yield part;
      at += part.length;
    }
  }

  const pieceAt = (at: number): Buffer => {
    if (at < headBytes) return head.subarray(at);
    const within = at - headBytes;
    if (within >= content) return tail.subarray(within - content);
    return piece.subarray(within % MEBIBYTE).subarray(0, content - within);
  };

  const sha256 = () => {
    const hash = createHash('sha256');
    for (const part of stretch(0, bytes)) hash.update(part);
    return hash.digest('hex');
  };
  return { bytes, stretch, sha256 };
}

function sumOf(piece: Buffer, bytes: number): number {
  let sum = 0;
  for (let left = bytes; left > 0; left -= piece.length) sum = crc32(piece.subarray(0, left), sum);
  return sum;
}

const headOf = (sum: number, bytes: number): Buffer => {
  const extra = extraField(1, u64(bytes, bytes));
  return Buffer.concat([
    u32(0x04034b50),
    u16(ZIP64_VERSION, 0, 0, 0, 0x21),
    u32(sum, IN_ZIP64, IN_ZIP64),
    u16(NAME.length, extra.length),
    NAME,
    extra,
  ]);
};

function tailOf(sum: number, bytes: number, directoryAt: number): Buffer {
  const extra = extraField(1, u64(bytes, bytes));
  const directory = Buffer.concat([
    u32(0x02014b50),
    u16(ZIP64_VERSION, ZIP64_VERSION, 0, 0, 0, 0x21),
    u32(sum, IN_ZIP64, IN_ZIP64),
    u16(NAME.length, extra.length, 0, 0, 0),
    u32(0, 0),
    NAME,
    extra,
  ]);
  return Buffer.concat([
    directory,
    u32(0x06064b50),
    u64(44),
    u16(ZIP64_VERSION, ZIP64_VERSION),
    u32(0, 0),
    u64(1, 1, directory.length, directoryAt),
    u32(0x07064b50, 0),
    u64(directoryAt + directory.length),
    u32(1),
    u32(0x06054b50),
    u16(0, 0, 0xffff, 0xffff),
    u32(IN_ZIP64, IN_ZIP64),
    u16(0),
  ]);
}
