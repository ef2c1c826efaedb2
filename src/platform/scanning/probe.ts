import { crc32 } from 'node:zlib';
import type { Clamd, Verdict } from './clamd.ts';

/** The EICAR test file, split so that no scanner detects this source file. */
const EICAR = Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join(''));
const BLOCK = Buffer.alloc(1024 * 1024);

/** The reply of clamd for the file that every scanner must detect. */
export const probeSmall = (clamd: Clamd): Promise<Verdict> => clamd.scan(blocks(EICAR));

/** The same at the end of an archive of this size. Clamd replies OK if it skips archives that are too large. */
export const probeLarge = (clamd: Clamd, bytes: number): Promise<Verdict> => clamd.scan(paddedArchive(bytes));

async function* blocks(...parts: Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

async function* paddedArchive(bytes: number): AsyncGenerator<Buffer> {
  const padBytes = Math.max(0, bytes - 512);
  let sum = 0;
  const pad: Buffer[] = [];
  for (let left = padBytes; left > 0; left -= BLOCK.length) pad.push(BLOCK.subarray(0, Math.min(left, BLOCK.length)));
  for (const block of pad) sum = crc32(block, sum);
  const entries = [
    { name: 'padding', bytes: padBytes, sum, offset: 0 },
    { name: 'eicar.com', bytes: EICAR.length, sum: crc32(EICAR), offset: 37 + padBytes },
  ];
  const directory = entries.map((entry) => Buffer.concat([header(0x02014b50, entry), Buffer.from(entry.name)]));
  yield Buffer.concat([header(0x04034b50, entries[0]!), Buffer.from('padding')]);
  yield* pad;
  yield Buffer.concat([header(0x04034b50, entries[1]!), Buffer.from('eicar.com'), EICAR]);
  yield Buffer.concat([...directory, endRecord(directory, 37 + padBytes + 39 + EICAR.length)]);
}

interface Piece {
  readonly name: string;
  readonly bytes: number;
  readonly sum: number;
  readonly offset: number;
}

/** A local header or, with one more version and the offset, an entry of the central directory. */
function header(signature: 0x04034b50 | 0x02014b50, { name, bytes, sum, offset }: Piece): Buffer {
  const isCentral = signature === 0x02014b50;
  const at = isCentral ? 2 : 0;
  const head = Buffer.alloc(isCentral ? 46 : 30);
  head.writeUInt32LE(signature, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(20, 4 + at);
  head.writeUInt32LE(sum, 14 + at);
  head.writeUInt32LE(bytes, 18 + at);
  head.writeUInt32LE(bytes, 22 + at);
  head.writeUInt16LE(name.length, 26 + at);
  if (isCentral) head.writeUInt32LE(offset, 42);
  return head;
}

function endRecord(directory: readonly Buffer[], offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
