import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

// A tar archive (POSIX ustar, with GNU's form of large sizes), so that other programs can open a backup. Its last entry
// is the hash of everything before it, which detects truncated and changed backups.

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const OCTAL_MAX = 8 ** 11;
const LAST = 'sha256';

const paddingOf = (bytes: number) => (BLOCK - (bytes % BLOCK)) % BLOCK;

export interface Entry {
  readonly name: string;
  readonly bytes: number;
}

function headerOf({ name, bytes }: Entry, seconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, rest] = splitName(name);
  header.write(rest, 0);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  if (bytes < OCTAL_MAX) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write(`${seconds.toString(8).padStart(11, '0')}\0`, 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function splitName(name: string): [string, string] {
  if (name.length <= NAME_BYTES) return ['', name];
  const slash = name.lastIndexOf('/', PREFIX_BYTES);
  if (slash < 1 || name.length - slash - 1 > NAME_BYTES)
    throw new Error(`the name is too long for an archive: ${name}`);
  return [name.slice(0, slash), name.slice(slash + 1)];
}

export class TarWriter {
  readonly #file: FileHandle;
  readonly #seconds: number;
  readonly #hash = createHash('sha256');

  constructor(file: FileHandle, seconds: number) {
    this.#file = file;
    this.#seconds = seconds;
  }

  async add(entry: Entry, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    await this.#write(headerOf(entry, this.#seconds));
    let left = entry.bytes;
    for await (const chunk of content) {
      left -= chunk.byteLength;
      if (left < 0) break;
      await this.#write(chunk);
    }
    if (left !== 0) throw new Error(`${entry.name} changed its size while it was copied`);
    await this.#write(Buffer.alloc(paddingOf(entry.bytes)));
  }

  async end(): Promise<void> {
    const text = Buffer.from(this.#hash.copy().digest('hex'));
    await this.add({ name: LAST, bytes: text.length }, [text]);
    await this.#write(Buffer.alloc(2 * BLOCK));
  }

  async #write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    await this.#file.writeFile(chunk);
  }
}

/** The archive is damaged, incomplete or not written by `TarWriter`. */
export class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

/** Passes each entry to `take`, which must read it completely, and throws unless the archive is valid to its end. */
export async function readTar(
  source: AsyncIterable<Uint8Array>,
  take: (entry: Entry, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const reader = new Reader(source);
  for (;;) {
    const before = reader.digest();
    const entry = entryOf(await reader.exactly(BLOCK));
    if (entry.name === LAST) {
      if ((await reader.exactly(entry.bytes)).toString() !== before) throw new BrokenArchive('it is damaged');
      return;
    }
    await take(entry, reader.upTo(entry.bytes));
    await reader.exactly(paddingOf(entry.bytes));
  }
}

export function entryOf(header: Buffer): Entry {
  const text = (start: number, length: number) => header.toString('utf8', start, start + length).replace(/\0.*$/s, '');
  if (text(257, 5) !== 'ustar') throw new BrokenArchive('it is not an archive');
  const prefix = text(345, PREFIX_BYTES);
  const bytes = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8);
  return { name: prefix ? `${prefix}/${text(0, NAME_BYTES)}` : text(0, NAME_BYTES), bytes };
}

class Reader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #hash = createHash('sha256');
  #held: Uint8Array = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The hash of everything read so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async *upTo(bytes: number): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0; ) {
      if (this.#held.byteLength === 0) {
        const { done, value } = await this.#source.next();
        if (done) throw new BrokenArchive('it is truncated');
        this.#held = value;
      }
      const chunk = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(chunk.byteLength);
      left -= chunk.byteLength;
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  async exactly(bytes: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.upTo(bytes)));
  }
}
