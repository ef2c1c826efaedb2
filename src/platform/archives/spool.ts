import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArchiveSource, fileSource } from './source.ts';

/** The first bytes of a zip archive, including an empty one. */
export const startsAsArchive = (head: Buffer): boolean =>
  head.length >= 4 && [0x04034b50, 0x06054b50].includes(head.readUInt32LE(0));

export const HEAD_BYTES = 8;

/** A temporary file without a name, so that its space is freed however the process ends. */
async function openScratch(): Promise<FileHandle> {
  const path = join(tmpdir(), `modstead-archive-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

/** Records the beginning of an entry's content, and all of it if the entry begins like an archive. */
export class Spool implements AsyncDisposable {
  readonly #keeps: boolean;
  #head = Buffer.alloc(0);
  #file: FileHandle | undefined;

  /** `keeps`: writes nested archives to disk instead of recording only their beginning. */
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
