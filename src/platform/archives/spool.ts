import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArchiveSource, fileSource } from './source.ts';

/** How a zip archive begins, be it an empty one. */
export const startsAsArchive = (head: Buffer): boolean =>
  head.length >= 4 && [0x04034b50, 0x06054b50].includes(head.readUInt32LE(0));

export const HEAD_BYTES = 8;

/** Room on the disk without a name, so that it is free again however this process ends. */
async function openScratch(): Promise<FileHandle> {
  const path = join(tmpdir(), `modstead-archive-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

/** Sees the content of an entry pass by: keeps its beginning, and all of it if that is the beginning of an archive. */
export class Spool implements AsyncDisposable {
  readonly #keeps: boolean;
  #head = Buffer.alloc(0);
  #file: FileHandle | undefined;

  /** `keeps`: archives are written to the disk, and not only their beginning is seen. */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  get head(): Buffer {
    return this.#head;
  }

  async *through(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      await this.#see(chunk);
      yield chunk;
    }
  }

  async #see(chunk: Buffer): Promise<void> {
    if (this.#file) return void (await this.#file.appendFile(chunk));
    if (this.#head.length >= HEAD_BYTES) return;
    const seen = Buffer.concat([this.#head, chunk]);
    this.#head = Buffer.from(seen.subarray(0, HEAD_BYTES));
    if (!this.#keeps || seen.length < HEAD_BYTES || !startsAsArchive(seen)) return;
    this.#file = await openScratch();
    await this.#file.appendFile(seen);
  }

  async source(): Promise<ArchiveSource | undefined> {
    return this.#file && fileSource(this.#file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }
}
